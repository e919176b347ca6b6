"""Programs in processes of their own, forked from a server that has imported the libraries that take long.

A test that needs a process without firth (or without Keras) does not import TensorFlow anew.
"""

import multiprocessing
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

# Libraries that a server imports; none of them imports Keras or firth.
LIBRARIES = ("numpy", "tensorflow", "tensorflow_text")


def run_python(
    arguments: Sequence[str],
    env: Mapping[str, str] | None = None,
    cwd: os.PathLike | str | None = None,
    check: bool = False,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Runs Python in a fresh process that has `LIBRARIES` in memory, and captures its output.

    A program that lists `sys.modules`, or that sets variables which TensorFlow reads when it is imported,
    needs `subprocess` instead.

    Args:
        arguments: `["-c", code, ...]`, `["-m", module, ...]` or `[script, ...]`, as after `python`.
        env: Environment of the process; that of this one by default.
        cwd: Folder that the process runs in.
        check: Raise `subprocess.CalledProcessError` where it ends with another status than 0.
        timeout: Seconds after which the process is ended and `subprocess.TimeoutExpired` is raised.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(LIBRARIES))
    environment = dict(os.environ if env is None else env)
    with tempfile.TemporaryDirectory(prefix="firth-fresh-") as folder:
        outputs = [os.path.join(folder, name) for name in ("stdout", "stderr")]
        child = context.Process(target=_run, args=(list(arguments), environment, cwd and str(cwd), *outputs))
        child.start()
        child.join(timeout)
        if child.is_alive():
            child.kill()
            child.join()
            raise subprocess.TimeoutExpired(list(arguments), timeout)
        stdout, stderr = (pathlib.Path(path).read_text() for path in outputs)
    done = subprocess.CompletedProcess(list(arguments), child.exitcode, stdout, stderr)
    if check:
        done.check_returncode()
    return done


def _run(
    arguments: list[str], environment: dict[str, str], cwd: str | None, stdout: str, stderr: str
) -> None:
    """Runs a program in this process, with its output in files."""
    for number, path in ((1, stdout), (2, stderr)):
        place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(place, number)
        os.close(place)
    sys.stdout, sys.stderr = (open(number, "w", buffering=1, closefd=False) for number in (1, 2))  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd or os.getcwd())
    searched = [each for each in environment.get("PYTHONPATH", "").split(os.pathsep) if each]
    sys.path[:0] = searched
    first, *rest = arguments
    if first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif first == "-m":
        sys.argv = rest
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(first)))
        runpy.run_path(first, run_name="__main__")
