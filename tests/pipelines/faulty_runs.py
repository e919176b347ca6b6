"""Runs a recipe on a disk of its own, again and again, while the disk fills up or the run is killed.

A program for `faults_test.py`: it mounts a tmpfs, so it needs a mount namespace of its own. Each attempt is
the `firth` command in a process forked from this one, which has loaded what they need once. It prints as
JSON what became of each attempt.
"""

import contextlib
import dataclasses
import json
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


@dataclasses.dataclass(frozen=True)
class Attempt:
    """Outcome of one `firth run`.

    Attributes:
        fault: What was done to it.
        code: Its exit code; of a killed one, the signal's number below zero.
        output: All that it printed.
    """

    fault: str
    code: int
    output: str


def _at_start(component: str, call: Callable[[], None]) -> None:
    """Has a function called whenever a component starts."""
    from firth.pipelines.events import ComponentEvents

    start = ComponentEvents.start

    def start_and_call(self, name: str) -> None:
        start(self, name)
        if name == component:
            call()

    ComponentEvents.start = start_and_call


def full(run_dir: pathlib.Path, component: str, free: int) -> Callable[[], None]:
    """Returns a function that fills the disk, but for some bytes, when a component starts, or at once."""
    disk = run_dir.parent.parent

    def fill() -> None:
        usage = os.statvfs(disk)
        with open(disk / "ballast", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, usage.f_bavail * usage.f_frsize - free)

    return lambda: _at_start(component, fill) if component else fill()


def killed(run_dir: pathlib.Path, component: str) -> Callable[[], None]:
    """Returns a function that kills the run when a component writes its first file or is to be recorded."""
    from tfx.orchestration.portable import execution_publish_utils

    folder = run_dir / "pipeline" / component

    def watch() -> None:
        before = set(folder.rglob("*"))
        while not any(path.is_file() for path in set(folder.rglob("*")) - before):
            time.sleep(0.001)
        os.killpg(0, signal.SIGKILL)

    def arm() -> None:
        execution_publish_utils.publish_succeeded_execution = lambda *_, **__: os.killpg(0, signal.SIGKILL)
        threading.Thread(target=watch, daemon=True).start()

    return lambda: _at_start(component, arm)


FAULTS: dict[str, Callable[..., Callable[[], None]]] = {
    "full": full,
    "killed": killed,
    "no": lambda *_: lambda: None,
}


@dataclasses.dataclass
class Command:
    """The `firth` command in a forked process, with what it prints in a file."""

    arguments: list[str]
    printed: pathlib.Path
    prepare: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self._process = os.fork()
        if not self._process:
            _run(self.arguments, self.printed, self.prepare)

    def ended(self, fault: str) -> Attempt:
        """Waits for its end."""
        began = time.monotonic()
        _, status = os.waitpid(self._process, 0)
        attempt = Attempt(fault, os.waitstatus_to_exitcode(status), self.printed.read_text())
        print(f"{attempt} after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        return attempt


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

    import firth.corpus.curation.curate
    import firth.evaluation
    import firth.pipelines.local
    import firth.pipelines.pretrain
    import firth.reports.report
    import firth.training.pretraining  # noqa: F401


def main(place: str, recipe: str, faults: str) -> None:
    """Runs the recipe without a fault, and next to it on a disk of its own with those that JSON lists."""
    disk = pathlib.Path(place) / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(disk)], check=True)
    load()
    assert threading.active_count() == 1, threading.enumerate()
    run_dir = disk / "runs" / pathlib.Path(recipe).stem
    whole = Command(["run", recipe, "--root", place, "--name", "whole"], disk.parent / "whole.txt")
    attempts = []
    for kind, component, *free in [*json.loads(faults), ["no", "fault"]]:
        prepare = FAULTS[kind](run_dir, component, *free)
        command = Command(["run", recipe, "--root", str(run_dir.parent)], disk.parent / "faulty.txt", prepare)
        attempts.append(command.ended(f"{kind} {component}"))
        (disk / "ballast").unlink(missing_ok=True)
    shutil.copytree(run_dir, pathlib.Path(place) / "faulty")
    print(json.dumps([dataclasses.asdict(each) for each in (whole.ended("no fault"), *attempts)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
