"""The runs of `benchmarks.transfer`: which there are to make, and where those that are made are kept."""

import dataclasses
import hashlib
import json
import pathlib
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.transfer_bases import Start


class NotMadeError(Exception):
    """A run is not there yet."""


class CellError(RuntimeError):
    """Runs could not be made."""


class Settings(NamedTuple):
    """Values that differ from run to run.

    Attributes:
        seed: Seed of the run.
        rate: Learning rate.
    """

    seed: int
    rate: float

    @property
    def options(self) -> dict[str, Any]:
        """The settings, as a recipe says them."""
        return {"seed": self.seed, "training.optimizer.learning_rate": self.rate}


@dataclasses.dataclass(frozen=True)
class Cell:
    """A model adapted to a task with several seeds.

    Attributes:
        start: What the model starts from.
        data, task: As a recipe says them.
        more: More of the recipe.
        rates: Learning rates to try with the first seed, of which the other seeds take the better one.
        seeds: Seeds.
        records, held_out: Most records to train on, and to score.
        folder: Folder of the benchmark.
        kept: Folder for the bundle of the trained model; empty to forget it.
    """

    start: Start
    data: Mapping[str, Any]
    task: Mapping[str, Any]
    more: Mapping[str, Any]
    rates: Sequence[float]
    seeds: Sequence[int]
    records: int
    held_out: int
    folder: pathlib.Path
    kept: str = ""

    def runs(self, make: Callable[[Settings], Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Returns all runs: those that are kept, and of the others what `make` returns."""
        found: list[dict[str, Any]] = []
        for seed in self.seeds:
            tried = self.rates if not found else [_best(found)]
            found += [self._run(Settings(seed, rate), make) for rate in tried]
        return found

    def made(self) -> list[dict[str, Any]]:
        """Returns all runs, made in a process of their own as far as they are not kept.

        Raises:
            CellError: if they could not be made, with the last line of the error.
        """
        try:
            return self.runs(_never)
        except NotMadeError:
            self._work("runs")
        return self.runs(_never)

    def lead(self) -> dict[str, Any] | None:
        """Returns how good the first three sentences are; None if the task writes no summaries.

        Raises:
            CellError: as for `made`.
        """
        if self.task["kind"] != "text_to_text":
            return None
        found: dict[str, Any] = json.loads(self._work("lead"))
        return found

    def _work(self, what: str) -> str:
        command = [sys.executable, "-m", "benchmarks.transfer_worker", what, json.dumps(self.to_json())]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            (self.folder / "error.log").write_text(done.stderr)
            raise CellError((done.stderr.strip().splitlines() or [str(done.returncode)])[-1])
        return (done.stdout.splitlines() or [""])[-1]

    @property
    def name(self) -> str:
        """A name that no other cell has."""
        return self._key(Settings(0, 0.0))

    def to_json(self) -> dict[str, Any]:
        """Returns the JSON that `from_json` reads."""
        return {**dataclasses.asdict(self), "start": self.start._asdict(), "folder": str(self.folder)}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Cell":
        """Returns the cell of what `to_json` returned."""
        return cls(**{**said, "start": Start(**said["start"]), "folder": pathlib.Path(said["folder"])})

    def _run(self, settings: Settings, make: Callable[[Settings], Mapping[str, Any]]) -> dict[str, Any]:
        path = self.folder / "runs" / f"{self._key(settings)}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_text(json.dumps({**settings._asdict(), **make(settings)}))
            unfinished.rename(path)
        run: dict[str, Any] = json.loads(path.read_text())
        return run

    def _key(self, settings: Settings) -> str:
        said = {
            key: value for key, value in self.to_json().items() if key not in ("rates", "seeds", "folder")
        }
        return hashlib.sha256(json.dumps([said, settings], sort_keys=True).encode()).hexdigest()[:20]


def _best(runs: Sequence[Mapping[str, Any]]) -> float:
    first = [run for run in runs if run["seed"] == runs[0]["seed"]]
    best: float = max(first, key=lambda run: run["value"])["rate"]
    return best


def _never(settings: Settings) -> Mapping[str, Any]:
    raise NotMadeError(settings)
