"""The declaration of TaskReporter."""

from tfx import types
from tfx.dsl.components.base import executor_spec
from tfx.types import standard_artifacts

from firth.components.artifacts import RecordAnomalies, RunReport, ServingReport
from firth.components.declaration import Component, declare
from firth.components.task_reporter.executor import Executor
from firth.recipes.run.adapting import AdaptingRecipe


class TaskReporter(Component):
    """Gathers the outputs of a run that adapts a model, and writes one self-contained HTML page on it.

    Args:
        records: Output of LabelledExampleGen.
        rows: Output of TaskRowGen; the exported model is asked about rows of its eval split.
        found: Output of TaskDataValidator.
        model: Model of the Trainer.
        model_run: Model run of the Trainer, which holds the history of losses.
        evaluation: Evaluation of the Evaluator.
        blessing: Blessing of the Evaluator.
        serving_report: Output of ServingValidator.
        pushed_model: Output of the Pusher.
        recipe: Recipe of the run, with its labels.
        run_dir: Folder of a local run, for wall time and memory of the components; may be empty.

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
        optional_inputs={"pushed_model": standard_artifacts.PushedModel},
        outputs={"report": RunReport},
        parameters={"recipe": str, "run_dir": str},
    )
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self,
        records: types.BaseChannel,
        rows: types.BaseChannel,
        found: types.BaseChannel,
        model: types.BaseChannel,
        model_run: types.BaseChannel,
        evaluation: types.BaseChannel,
        blessing: types.BaseChannel,
        serving_report: types.BaseChannel,
        recipe: AdaptingRecipe,
        pushed_model: types.BaseChannel | None = None,
        run_dir: str = "",
    ) -> None:
        super().__init__(
            records=records,
            rows=rows,
            found=found,
            model=model,
            model_run=model_run,
            evaluation=evaluation,
            blessing=blessing,
            serving_report=serving_report,
            pushed_model=pushed_model,
            recipe=recipe.to_json(),
            run_dir=run_dir,
        )
