"""Gathers what the page on a task needs from a run's artifacts."""

import dataclasses
import os
from typing import Any

from firth import storage
from firth.analysis.collect import ReportInputs, collect_run
from firth.analysis.record import RunRecord
from firth.analysis.tasks.answers import ask_rows, confusion_of, wrong_answers
from firth.analysis.tasks.record import TaskRecord
from firth.recipes.run.adapting import AdaptingRecipe


@dataclasses.dataclass(frozen=True)
class TaskReportInputs:
    """Folders of a run's artifacts; an empty path stands for an artifact that does not exist.

    Attributes:
        recipe: Recipe of the run, with its labels.
        run: What the page on any run is made of.
        records: Folder of LabelledExampleGen's examples, with `report.json`.
        rows: Folder of TaskRowGen's examples, with `report.json`.
        found: Folder of TaskDataValidator's `skew.json`.
    """

    recipe: AdaptingRecipe
    run: ReportInputs
    records: str = ""
    rows: str = ""
    found: str = ""


def collect_task(inputs: TaskReportInputs) -> tuple[RunRecord, TaskRecord]:
    """Returns everything that the page shows; fields of artifacts that do not exist are left empty."""
    made = _read(inputs.rows, "report.json") or {}
    rows = made.get("splits", {})
    recipe = inputs.recipe
    if train := rows.get("train"):
        recipe = recipe.scheduled(train["rows"], train["records"])
    run = collect_run(dataclasses.replace(inputs.run, recipe=recipe))
    can_ask = bool(inputs.run.model and inputs.rows and inputs.records and recipe.task.score_names)
    answers = ask_rows(inputs.run.model, inputs.rows, recipe.task) if can_ask else []
    return run, TaskRecord(
        records=_read(inputs.records, "report.json"),
        rows=rows,
        skew=_read(inputs.found, "skew.json") or (),
        start=_read(inputs.run.model_run, "start.json"),
        trained=_trained(recipe),
        contamination=made.get("contamination", {}),
        asked=len(answers),
        confusion=confusion_of(answers),
        wrong=wrong_answers(answers, inputs.records) if answers else (),
    )


def _trained(recipe: AdaptingRecipe) -> int:
    from firth.tuning import trainable_parameters

    return trainable_parameters(recipe)


def _read(folder: str, name: str) -> Any:
    return storage.read_json(os.path.join(folder, name)) if folder else None
