"""Events of a local run: starts and ends of components, and the training's progress.

Before the first component, `{"kind": "changes", "lines"}` says which keys differ from the last
recipe of the folder.


TFX announces each component on its log; the training loop announces its steps on `firth.progress`. The
listener here turns both into small dictionaries, so that whoever draws them needs neither.
"""

import contextlib
import json
import logging
import os
import pathlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import absl.logging
import psutil

Event = dict[str, Any]
OnEvent = Callable[[Event], None]

_RUNNING = re.compile(r"^Component (\S+) is running\.$")
_FINISHED = re.compile(r"^Component (\S+) is finished\.$")
_PROGRESS = logging.getLogger("firth.progress")
_CACHED = re.compile(r"^A cached execution \d+ is used\.$")


class ComponentListener(logging.Handler):
    """Follows TFX's log and `firth.progress`, and calls `on_event` with an event for each change.

    Events are `{"kind": "component", "name", "state", "seconds", "peak_bytes"}` with state `running`,
    `finished`, `cached` or `failed`, and whatever the training loop reports with kind `training`.

    Args:
        on_event: Function that is called with each event.
        memory: Samples of memory, for the peak of each component.
    """

    def __init__(self, on_event: OnEvent, memory: "PeakMemory") -> None:
        super().__init__(logging.INFO)
        self.current: str | None = None
        self._on_event = on_event
        self._memory = memory
        self._cached = False
        self._started = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Reads one log record.

        Args:
            record: Record of TFX's log, or of `firth.progress`.
        """
        progress = getattr(record, "firth", None)
        if progress is not None:
            self._on_event(progress)
            return
        message = record.getMessage()
        if match := _RUNNING.match(message):
            self._start(match[1])
        elif _CACHED.match(message):
            self._cached = True
        elif _FINISHED.match(message):
            self.close_component("cached" if self._cached else "finished")

    def _start(self, name: str) -> None:
        self.current, self._cached, self._started = name, False, time.monotonic()
        self._memory.reset()
        self._on_event({"kind": "component", "name": name, "state": "running"})

    def close_component(self, state: str) -> None:
        """Reports the current component's end, if one is running.

        Args:
            state: State in which it ended.
        """
        if self.current is None:
            return
        seconds = time.monotonic() - self._started
        event = {"kind": "component", "name": self.current, "state": state, "seconds": seconds}
        self.current = None
        self._on_event({**event, "peak_bytes": self._memory.peak_bytes})


class PeakMemory:
    """Samples the resident memory of this process and its children, in bytes, a few times a second.

    Args:
        interval_seconds: Seconds between two samples.
    """

    def __init__(self, interval_seconds: float = 0.2) -> None:
        self.peak_bytes = 0
        self._interval_seconds = interval_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample_until_stopped, daemon=True)

    def reset(self) -> None:
        """Starts a new peak."""
        self.peak_bytes = resident_bytes()

    def _sample_until_stopped(self) -> None:
        while not self._stop.wait(self._interval_seconds):
            self.peak_bytes = max(self.peak_bytes, resident_bytes())

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def resident_bytes() -> int:
    """Returns the resident memory of this process and its children, in bytes.

    Example:

    >>> resident_bytes() > 2**20
    True
    """
    process = psutil.Process()
    total = process.memory_info().rss
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            total += child.memory_info().rss
    return total


class Timings:
    """Wall time and peak memory of each component, kept in a file for the report.

    A cached component keeps the figures of the run that made its output.

    Args:
        path: Path of the file.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self.components: dict[str, Event] = json.loads(path.read_text()) if path.exists() else {}

    def record(self, event: Event) -> None:
        """Takes in one event; writes the file when a component has ended.

        Args:
            event: Event of a run.
        """
        if event["kind"] != "component" or event["state"] == "running":
            return
        kept = self.components.get(event["name"])
        if event["state"] == "cached" and kept is not None:
            return
        self.components[event["name"]] = {key: event[key] for key in ("state", "seconds", "peak_bytes")}
        temporary = self._path.with_suffix(".partial")
        temporary.write_text(json.dumps(self.components, indent=1))
        os.replace(temporary, self._path)


@contextlib.contextmanager
def listening(on_event: OnEvent) -> Iterator[ComponentListener]:
    """Calls `on_event` with the run's events for as long as the block runs.

    Args:
        on_event: Function that is called with each event.
    """
    # Through absl and not through `logging`: saving a model sets absl's verbosity aside and back.
    verbosity = absl.logging.get_verbosity()
    absl.logging.set_verbosity(absl.logging.INFO)
    _PROGRESS.setLevel(logging.INFO)
    with PeakMemory() as memory:
        listener = ComponentListener(on_event, memory)
        for source in (absl.logging.get_absl_logger(), _PROGRESS):
            source.addHandler(listener)
        try:
            yield listener
        finally:
            for source in (absl.logging.get_absl_logger(), _PROGRESS):
                source.removeHandler(listener)
            absl.logging.set_verbosity(verbosity)
