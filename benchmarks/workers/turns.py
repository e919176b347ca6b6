"""Processes that take turns: each has its own memory, and all do their steps in one and the same minute.

A process answers each line of its standard input with one line of JSON.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from benchmarks.workers.memory import peak_bytes

# So long nothing runs before a turn, for the other process's threads to fall asleep.
PAUSE_SECONDS = 0.05


class Worker:
    """One worker of a comparison, in a process of its own.

    Args:
        python: The interpreter.
        arguments: Of the module.
        module: What the process runs; it calls `answer`.

    Raises:
        RuntimeError: if the process ends before it answers; its standard error is above.
    """

    def __init__(self, python: str, arguments: list[str], module: str = "benchmarks.workers.work"):
        command = [python, "-m", module, *arguments]
        root = pathlib.Path(__file__).parents[2]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        self._process = subprocess.Popen(command, cwd=root, env=environment, text=True, **pipes)
        self.versions = self._answer()

    def step(self, work: str, given: str, lot: int) -> dict[str, float]:
        """Does one lot of work; returns `seconds`, `processor_seconds` and `peak_megabytes`."""
        time.sleep(PAUSE_SECONDS)
        print(json.dumps([work, given, lot]), file=self._process.stdin, flush=True)
        return self._answer()

    def close(self) -> None:
        """Ends the process."""
        self._process.stdin.close()
        self._process.wait()

    def _answer(self):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a worker ended with {self._process.wait()}")
        return json.loads(line)


@contextlib.contextmanager
def started(commands: dict[str, tuple[str, list[str]]], **options) -> Iterator[dict[str, Worker]]:
    """Gives the workers by name, each from its interpreter and arguments, and ends them afterwards."""
    with contextlib.ExitStack() as stack:
        workers = {}
        for name, (python, arguments) in commands.items():
            workers[name] = Worker(python, arguments, **options)
            stack.callback(workers[name].close)
        yield workers


def answer(versions: dict[str, str], do: Callable[[str, str, int], dict[str, float] | None]) -> None:
    """Serves the other end: does what each line asks for, and says how long it took and what `do` returns."""
    # Whatever libraries print goes to standard error.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    print(json.dumps(versions), file=answers, flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        wall, processor = time.perf_counter(), time.process_time()
        found = do(*task)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        peak = peak_bytes() / 2**20
        figures = {"seconds": wall, "processor_seconds": processor, "peak_megabytes": peak, **(found or {})}
        print(json.dumps(figures), file=answers, flush=True)
