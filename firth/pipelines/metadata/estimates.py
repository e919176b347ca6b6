"""The time that the rest of a run takes, by what its components took in earlier runs."""

import pathlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from firth import storage
from firth.pipelines.events import TIMINGS_FILE, Event

Times = Mapping[str, Mapping[str, Any]]


class RunEstimate:
    """Adds to the events of a run where it is and how much of it is left.

    A component's event says its `number` `of` all, the seconds that are `expected` of it, if they are known,
    and those that are `left` of the run; those of a
    training say `run_left`: its steps, what the Trainer does after them, and the components to come. Both are
    None where a component has no time of an earlier run, and `unknown` counts these.

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
        """Returns an event with what is known of the rest of the run."""
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
    """Returns what components took in the run's folder, or else in the newest other run that had them."""
    others = [path for path in run_dir.parent.glob(f"*/{TIMINGS_FILE}") if path.parent != run_dir]
    read = [(path, storage.read_json_object(path)) for path in others]
    newest_last = [timings for _, timings in sorted(read, key=lambda each: _last_end(*each))]
    times: dict[str, Mapping[str, Any]] = {}
    for timings in [*newest_last, storage.read_json_object(run_dir / TIMINGS_FILE)]:
        for name, said in timings.items():
            # A component that failed did not come to its end.
            if isinstance(said, dict) and said.get("state") != "failed" and _is_time(said.get("seconds")):
                times[name] = said
    return times


def _last_end(path: pathlib.Path, timings: Mapping[str, Any]) -> float:
    """Returns when a run's last component ended, by its record; by the file's time if there is none."""
    ends = [storage.seconds_of(said.get("ended")) for said in timings.values() if isinstance(said, dict)]
    return max((end for end in ends if end is not None), default=path.stat().st_mtime)


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and value >= 0
