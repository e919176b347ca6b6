"""The component TaskReporter."""

from collections.abc import Mapping
from typing import Any

from tfx import types
from tfx.types import standard_artifacts

from firth.components.artifacts import Distances, RecordAnomalies, RunReport, ServingReport
from firth.components.declaration import Component, declare
from firth.components.reporter import ReportExecutor
from firth.recipes.run.adapting import AdaptingRecipe
from firth.reports import ReportInputs
from firth.reports.task_report import TaskReportInputs, collect_task, render_task_report


class Executor(ReportExecutor):
    """Writes the report of a run that adapts a model."""

    recipe_type = AdaptingRecipe

    def page(self, run: ReportInputs, folders: Mapping[str, str]) -> str:
        """Returns the page."""
        recipe: Any = run.recipe
        own = {name: folders[name] for name in ("records", "rows", "found")}
        return render_task_report(*collect_task(TaskReportInputs(recipe, run, **own)))


class TaskReporter(Component, executor=Executor):
    """Gathers the outputs of a run that adapts a model, and writes one self-contained HTML page on it.

    Args:
        recipe: Recipe of the run, with its labels.
        run_dir: Folder of a local run, for wall time and memory of the components; may be empty.
        **channels: Outputs of components, by name: `records` of LabelledExampleGen; `rows` of TaskRowGen, of
            whose eval split the exported model is asked; `found` of TaskDataValidator; `model` and
            `model_run`, which holds the history of losses, of the Trainer; `evaluation` and `blessing` of
            the Evaluator; `serving_report` of ServingValidator. `tuner_results` of the Tuner, `distances` of
            DistributionValidator and `pushed_model` of the Pusher may be left out.

    Outputs:
        report: `report.html`.
    """

    SPEC_CLASS = declare(
        inputs={
            "records": standard_artifacts.Examples,
            "rows": standard_artifacts.Examples,
            "found": RecordAnomalies,
            "model": standard_artifacts.Model,
            "model_run": standard_artifacts.ModelRun,
            "evaluation": standard_artifacts.ModelEvaluation,
            "blessing": standard_artifacts.ModelBlessing,
            "serving_report": ServingReport,
        },
        optional_inputs={
            "distances": Distances,
            "tuner_results": standard_artifacts.TunerResults,
            "pushed_model": standard_artifacts.PushedModel,
        },
        outputs={"report": RunReport},
        parameters={"recipe": str, "run_dir": str},
    )

    def __init__(
        self, recipe: AdaptingRecipe, run_dir: str = "", **channels: types.BaseChannel | None
    ) -> None:
        super().__init__(recipe=recipe.to_json(), run_dir=run_dir, **channels)
