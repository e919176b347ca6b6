"""Reads runs from their folders, without loading TFX."""

import dataclasses
import pathlib
from typing import Any

from firth import storage
from firth.cli.output import ExitCode, fail

RECIPE_FILE, SUMMARY_FILE, TIMINGS_FILE = "recipe.yaml", "run.json", "timings.json"
REPORT_FILE, CORPUS_PAGE_FILE = "report.html", "corpus_report.html"
MODEL_RUNS = "pipeline/Trainer/model_run"
# A Trainer that was stopped has its output removed, and keeps the history with its checkpoints.
_HISTORIES = (f"{MODEL_RUNS}/*/history.jsonl", "checkpoints/*/history.jsonl")


@dataclasses.dataclass(frozen=True)
class RunOnDisk:
    """A run's folder.

    Attributes:
        directory: Folder of the run.
        summary: Summary of the last finished run; empty if no run has finished.
        timings: State, seconds and peak bytes of each component that has ended.
        is_finished: True if the summary is of the recipe, and of the last end of each component.
    """

    directory: pathlib.Path
    summary: dict[str, Any]
    timings: dict[str, dict[str, Any]]
    is_finished: bool

    @property
    def imported_from(self) -> str:
        """Format that the model was imported from; empty for a run."""
        return self.summary.get("imported_from", "")

    @property
    def state(self) -> str:
        """State of the run, in a word or two."""
        if self.imported_from:
            return f"imported ({self.imported_from})"
        if self.is_finished:
            return "blessed" if self.summary.get("blessed") else "not blessed"
        failed = [name for name, timing in self.timings.items() if timing.get("state") == "failed"]
        if failed:
            return f"failed in {failed[-1]}"
        return "curated" if not self.summary and self.report else "unfinished"

    @property
    def last_change(self) -> float:
        """Time of the last recorded end of the run or of one of its components, in seconds since 1970.

        It is that of the folder's files for a run that records none, such as one that has just begun.
        """
        recorded = [self.summary.get("finished"), *(each.get("ended") for each in self.timings.values())]
        times = [time for each in recorded if (time := storage.seconds_of(each)) is not None]
        files = (RECIPE_FILE, SUMMARY_FILE, TIMINGS_FILE)
        return max(times or [_changed(self.directory / name) for name in files])

    @property
    def report(self) -> pathlib.Path | None:
        """Path of the report on the run, or else of that on the corpus; None without a report."""
        paths = (self.directory / file for file in (REPORT_FILE, CORPUS_PAGE_FILE))
        return next((path for path in paths if path.exists()), None)

    @property
    def curves(self) -> pathlib.Path | None:
        """Folder of the training's `history.jsonl`, which may still grow; None if there is no such file.

        A history from before the last change of the recipe belongs to another training. Of the others it is
        that of the last attempt, whose folder has the highest number; without one, the longest.
        """
        outputs = self.summary.get("outputs", {}) if self.is_finished else {}
        if recorded := outputs.get("Trainer", {}).get("model_run"):
            # By its number, because the whole folder may have been moved.
            return self.directory / MODEL_RUNS / pathlib.Path(recorded).name
        found = [path for pattern in _HISTORIES for path in self.directory.glob(pattern)]
        begun = _changed(self.directory / RECIPE_FILE)
        last = max((path for path in found if _changed(path) >= begun), key=_attempt_and_step, default=None)
        return None if last is None else last.parent


def read_run(directory: pathlib.Path) -> RunOnDisk:
    """Returns the run in a folder, as its files record it."""
    summary_path, timings_path = directory / SUMMARY_FILE, directory / TIMINGS_FILE
    summary = storage.read_json_object(summary_path)
    timings = storage.read_json_object(timings_path)
    read = {name: timing for name, timing in timings.items() if isinstance(timing, dict)}
    return RunOnDisk(directory, summary, read, bool(summary) and _is_of_now(directory, summary))


def _is_of_now(directory: pathlib.Path, summary: dict[str, Any]) -> bool:
    if isinstance(made_of := summary.get("made_of"), dict):
        return all(_digest(directory / name) == digest for name, digest in made_of.items())
    # Older versions kept no digests: their files are compared by time.
    made_of = (RECIPE_FILE, TIMINGS_FILE)
    return _changed(directory / SUMMARY_FILE) >= max(_changed(directory / name) for name in made_of)


def all_runs(root: pathlib.Path) -> list[RunOnDisk]:
    """Returns the runs below a root, the latest first, by the times that they record."""
    runs = [read_run(path.parent) for path in sorted(root.glob(f"*/{RECIPE_FILE}"))]
    return sorted(runs, key=lambda run: run.last_change, reverse=True)


def find_run(root: pathlib.Path, name: str) -> RunOnDisk:
    """Returns the run of a name below the root, or in a folder. Ends the command if there is no such run."""
    if (found := run_named(root, name)) is not None:
        return found
    from firth.recipes.base.errors import suggest

    names = [run.directory.name for run in all_runs(root)]
    advice = suggest(name, names) if names else "it has no run yet; make one with firth run"
    fail(f"no run {name} in {root} ({advice})", ExitCode.USAGE)


def run_named(root: pathlib.Path, name: str) -> RunOnDisk | None:
    """Returns the run of a name below the root, or in a folder; None if there is no such run."""
    folders = (root / name, pathlib.Path(name))
    return next((read_run(folder) for folder in folders if (folder / RECIPE_FILE).exists()), None)


def _attempt_and_step(history: pathlib.Path) -> tuple[int, int]:
    """Returns the number of a training's attempt, -1 next to checkpoints, and the last step."""
    attempt, lines = history.parent.name, storage.read_json_lines(history)
    is_attempt = history.parent.parent.name == pathlib.PurePath(MODEL_RUNS).name and attempt.isdecimal()
    return int(attempt) if is_attempt else -1, lines[-1]["step"] if lines else -1


def _digest(path: pathlib.Path) -> str:
    return storage.digest_of(path).hex() if path.exists() else ""


def _changed(path: pathlib.Path) -> float:
    return path.stat().st_mtime if path.exists() else 0.0
