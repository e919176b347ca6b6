"""Runs a recipe on a disk of its own, again and again, while the disk fills up or the run is killed.

A program for `faults_test.py`: it mounts a tmpfs, so it needs a mount namespace of its own. Each attempt is
the `firth` command in a process forked from this one, which has loaded what they need once. It prints as
JSON what became of each attempt.
"""

import contextlib
import dataclasses
import json
import logging
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

DISK_BYTES = 48 * 2**20
STARTED = "Component {} is running."


@dataclasses.dataclass(frozen=True)
class Attempt:
    """What became of one `firth run`.

    Attributes:
        fault: What was done to it.
        code: Its exit code; of a killed one, the signal's number below zero.
        output: All that it printed.
        left: Files that it left and that the next one has to remove.
    """

    fault: str
    code: int
    output: str
    seconds: float


class AtStart(logging.Handler):
    """Calls a function when TFX says that it starts a component."""

    def __init__(self, component: str, call: Callable[[], None]):
        super().__init__(logging.INFO)
        self._message, self._call = STARTED.format(component), call

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == self._message:
            self._call()


def full(disk: pathlib.Path, component: str, free: int) -> Callable[[], None]:
    """Returns what fills the disk, but for some bytes, when a component starts; now where none is named."""

    def fill() -> None:
        usage = os.statvfs(disk)
        with open(disk / "ballast", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, usage.f_bavail * usage.f_frsize - free)

    return lambda: _listen(AtStart(component, fill)) if component else fill()


def killed(run_dir: pathlib.Path, component: str) -> Callable[[], None]:
    """Returns what kills the run when a component has begun to write, or is about to be recorded."""
    from tfx.orchestration.portable.launcher import Launcher

    folder = run_dir / "pipeline" / component

    def watch() -> None:
        before = set(folder.rglob("*"))
        while not any(path.is_file() for path in set(folder.rglob("*")) - before):
            time.sleep(0.001)
        os.killpg(0, signal.SIGKILL)

    def arm() -> None:
        Launcher._publish_successful_execution = lambda *_: os.killpg(0, signal.SIGKILL)
        threading.Thread(target=watch, daemon=True).start()

    return lambda: _listen(AtStart(component, arm))


def _listen(handler: logging.Handler) -> None:
    import absl.logging

    absl.logging.get_absl_logger().addHandler(handler)


def attempt(fault: str, arguments: list[str], disk: pathlib.Path, prepare: Callable[[], None]) -> Attempt:
    """Runs the command in a forked process."""
    printed, began = disk.parent / "printed", time.monotonic()
    if not (child := os.fork()):
        _run(arguments, printed, prepare)
    _, status = os.waitpid(child, 0)
    (disk / "ballast").unlink(missing_ok=True)
    return Attempt(fault, os.waitstatus_to_exitcode(status), printed.read_text(), time.monotonic() - began)


def _run(arguments: list[str], printed: pathlib.Path, prepare: Callable[[], None]) -> None:
    code = 70
    try:
        os.setsid()
        descriptor = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        from firth.cli.main import app

        prepare()
        try:
            app(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def load() -> None:
    """Imports what a run imports; nothing of it may start a thread."""
    import tensorflow_data_validation  # noqa: F401
    import tensorflow_model_analysis  # noqa: F401

    import firth.analysis.report
    import firth.corpus.curation
    import firth.evaluation
    import firth.pipelines.local
    import firth.pipelines.pretrain
    import firth.training.pretraining  # noqa: F401


def main(place: str, recipe: str, faults: str) -> None:
    """Makes the attempts that `faults` lists as JSON, then one without a fault."""
    disk = pathlib.Path(place) / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(disk)], check=True)
    load()
    assert threading.active_count() == 1, threading.enumerate()
    run_dir = disk / "runs" / pathlib.Path(recipe).stem
    arguments = ["run", recipe, "--root", str(run_dir.parent)]
    attempts = []
    for kind, component, *free in json.loads(faults):
        prepare = killed(run_dir, component) if kind == "killed" else full(disk, component, *free)
        attempts.append(attempt(f"{kind} {component}", arguments, disk, prepare))
        print(attempts[-1], file=sys.stderr, flush=True)
    attempts.append(attempt("", arguments, disk, lambda: None))
    print(attempts[-1], file=sys.stderr, flush=True)
    shutil.copytree(run_dir, pathlib.Path(place) / "run")
    print(json.dumps([dataclasses.asdict(each) for each in attempts]))


if __name__ == "__main__":
    main(*sys.argv[1:])
