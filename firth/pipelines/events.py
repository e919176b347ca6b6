"""Events of a local run: starts and ends of components, the training's progress, and the time that is left.

Before the first component, `{"kind": "changes", "lines"}` lists the keys that differ from the last recipe of
the folder.

At the first SIGTERM or Ctrl-C, `{"kind": "stopping"}` comes, from a thread of its own.

The runner reports components; the training loop announces its steps on the logger `firth.progress`. Both
become small dictionaries here, so the code that draws them depends on neither.
"""

import contextlib
import datetime
import logging
import pathlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import absl.logging
import psutil

from firth import storage

Event = dict[str, Any]
OnEvent = Callable[[Event], None]
# In a run's folder.
TIMINGS_FILE = "timings.json"
# Looking for children reads the state of all processes of the machine.
_CHILDREN_SECONDS = 1.0
_KEPT = ("state", "seconds", "peak_bytes", "after_steps", "ended")
_PROGRESS = logging.getLogger("firth.progress")
Times = Mapping[str, Mapping[str, Any]]


class ComponentEvents:
    """Calls a function with an event for each component that starts or ends.

    Events are `{"kind": "component", "name", "state", "seconds", "peak_bytes", "ended"}` with state
    `running`, `finished`, `cached` or `failed`; one that is `running` has the first three alone. `ended` is
    a time in ISO 8601.
    """

    def __init__(
        self,
        on_event: OnEvent,
        memory: "PeakMemory",
        begun: Callable[[Sequence[str]], None] = lambda components: None,
    ) -> None:
        self.current: str | None = None
        self._on_event, self._begun = on_event, begun
        self._memory = memory
        self._started = 0.0

    def begin(self, components: Sequence[str]) -> None:
        """Reports the components of the run."""
        self._begun(components)

    def start(self, component: str) -> None:
        """Reports that a component starts."""
        self.current, self._started = component, time.monotonic()
        self._memory.reset()
        self._on_event({"kind": "component", "name": component, "state": "running"})

    def end(self, state: str) -> None:
        """Reports the current component's end, if one is running."""
        if self.current is None:
            return
        seconds = time.monotonic() - self._started
        ended = datetime.datetime.now(datetime.timezone.utc).isoformat()
        event = {"kind": "component", "name": self.current, "state": state, "seconds": seconds}
        self.current = None
        self._on_event({**event, "peak_bytes": self._memory.peak_bytes, "ended": ended})


class _TrainingEvents(logging.Handler):
    """Calls a function with the events of the training loop."""

    def __init__(self, on_event: OnEvent) -> None:
        super().__init__(logging.INFO)
        self._on_event = on_event

    def emit(self, record: logging.LogRecord) -> None:
        self._on_event(record.firth)  # type: ignore[attr-defined]  # Given to the logger as `extra`.


class PeakMemory:
    """Samples the resident memory of this process and its children, in bytes, a few times a second.

    A child is noticed within a second.
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
        children: list[psutil.Process] = []
        looked = -_CHILDREN_SECONDS
        while not self._stop.wait(self._interval_seconds):
            if time.monotonic() - looked >= _CHILDREN_SECONDS:
                children, looked = psutil.Process().children(recursive=True), time.monotonic()
            self.peak_bytes = max(self.peak_bytes, resident_bytes(children))

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def resident_bytes(children: Sequence[psutil.Process] | None = None) -> int:
    """Returns the resident memory of this process and its children, in bytes.

    Args:
        children: The children, of which some may have ended; None to look for them.

    Example:

    >>> resident_bytes() > 2**20
    True
    """
    process = psutil.Process()
    total = process.memory_info().rss
    for child in process.children(recursive=True) if children is None else children:
        with contextlib.suppress(psutil.Error):
            total += child.memory_info().rss
    return total


class Timings:
    """Wall time, peak memory and end of each component, kept in a file for report and later estimates.

    The Trainer has the seconds after its last step too. A cached component keeps the figures of the run that
    made its output.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        kept = storage.read_json_object(path).items()
        self.components: dict[str, Event] = {
            name: timing for name, timing in kept if isinstance(timing, dict)
        }

    def record(self, event: Event) -> None:
        """Takes in one event; writes the file when a component has ended."""
        if event["kind"] != "component" or event["state"] == "running":
            return
        kept = self.components.get(event["name"])
        if event["state"] == "cached" and kept is not None:
            return
        self.components[event["name"]] = {key: event[key] for key in _KEPT if key in event}
        storage.write_json(self._path, self.components, indent=1)


@contextlib.contextmanager
def reporting(
    on_event: OnEvent, begun: Callable[[Sequence[str]], None] = lambda components: None
) -> Iterator[ComponentEvents]:
    """Calls a function with the run's events for as long as the block runs."""
    # TFX's messages about components go to the log. The level is set through absl and not through `logging`,
    # because saving a model changes absl's verbosity and restores it.
    verbosity = absl.logging.get_verbosity()
    absl.logging.set_verbosity(absl.logging.INFO)
    _PROGRESS.setLevel(logging.INFO)
    training = _TrainingEvents(on_event)
    _PROGRESS.addHandler(training)
    try:
        with PeakMemory() as memory:
            yield ComponentEvents(on_event, memory, begun)
    finally:
        _PROGRESS.removeHandler(training)
        absl.logging.set_verbosity(verbosity)


class RunEstimate:
    """Adds to the events of a run its place among the components and the time that is left.

    A component's event has its `number` `of` all, the seconds that are `expected` of it, if they are known,
    and those that are `left` of the run. Events of a training have `run_left`: its steps, the rest of the
    Trainer, and the components to come. Both are None if a component has no time of an earlier run, and
    `unknown` counts these.

    Example:

    >>> estimate = RunEstimate({"Evaluator": {"seconds": 20.0}, "Pusher": {"seconds": 1.0}}, lambda: 0.0)
    >>> estimate.begin(["Trainer", "Evaluator", "Pusher"])
    >>> trains = estimate.completed({"kind": "component", "name": "Trainer", "state": "running"})
    >>> trains["number"], trains["of"], trains["left"], trains["unknown"]
    (1, 3, None, 1)
    >>> evaluates = estimate.completed({"kind": "component", "name": "Evaluator", "state": "running"})
    >>> evaluates["number"], evaluates["left"], evaluates["unknown"]
    (2, 21.0, 0)
    """

    def __init__(self, times: Times, clock: Callable[[], float] = time.monotonic) -> None:
        self._times, self._clock = times, clock
        self._components: list[str] = []
        self._place = 0
        self._last_step: float | None = None

    def begin(self, components: Sequence[str]) -> None:
        """Takes the components of the run."""
        self._components = list(components)

    def completed(self, event: Event) -> Event:
        """Returns an event with the known times of the rest of the run."""
        if event["kind"] == "component":
            return self._of_component(event)
        if event["kind"] in ("training", "estimate"):
            self._last_step = self._clock()
            steps = event["eta_seconds"] if event["kind"] == "training" else event["seconds"]
            left, unknown = self._after_training()
            whole = None if steps is None or left is None else steps + left
            return {**event, "run_left": whole, "unknown": unknown}
        return event

    def _of_component(self, event: Event) -> Event:
        name = event["name"]
        if event["state"] != "running":
            trained, self._last_step = self._last_step, None
            return event if trained is None else {**event, "after_steps": self._clock() - trained}
        if name in self._components:
            self._place = self._components.index(name)
        self._last_step = None
        left, unknown = self._sum(self._components[self._place :])
        where = {"number": self._place + 1, "of": max(len(self._components), self._place + 1)}
        expected = self._times.get(name, {}).get("seconds")
        known = {} if expected is None else {"expected": expected}
        return {**event, **where, **known, "left": left, "unknown": unknown}

    def _after_training(self) -> tuple[float | None, int]:
        here, later = self._components[self._place : self._place + 1], self._components[self._place + 1 :]
        own, own_unknown = self._sum(here, "after_steps")
        left, unknown = self._sum(later)
        return (None if own is None or left is None else own + left), own_unknown + unknown

    def _sum(self, names: Sequence[str], key: str = "seconds") -> tuple[float | None, int]:
        known = [float(self._times[name][key]) for name in names if key in self._times.get(name, {})]
        unknown = len(names) - len(known)
        return (None if unknown else sum(known)), unknown


def earlier_times(run_dir: pathlib.Path) -> Times:
    """Returns the times of components in the run's folder, or else in the newest other run that had them."""
    others = [path for path in run_dir.parent.glob(f"*/{TIMINGS_FILE}") if path.parent != run_dir]
    read = [(path, storage.read_json_object(path)) for path in others]
    newest_last = [timings for _, timings in sorted(read, key=lambda each: _last_end(*each))]
    times: dict[str, Mapping[str, Any]] = {}
    for timings in [*newest_last, storage.read_json_object(run_dir / TIMINGS_FILE)]:
        for name, timing in timings.items():
            # A component that failed did not come to its end.
            if (
                isinstance(timing, dict)
                and timing.get("state") != "failed"
                and _is_time(timing.get("seconds"))
            ):
                times[name] = timing
    return times


def _last_end(path: pathlib.Path, timings: Mapping[str, Any]) -> float:
    """Returns the time at which a run's last component ended; the file's time if none is recorded."""
    ends = [
        storage.seconds_of(timing.get("ended")) for timing in timings.values() if isinstance(timing, dict)
    ]
    return max((end for end in ends if end is not None), default=path.stat().st_mtime)


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and value >= 0
