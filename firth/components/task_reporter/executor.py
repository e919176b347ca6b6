"""The work of TaskReporter: hands the artifacts' folders to `firth.analysis.tasks` and writes its page."""

import os

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils
from tfx.utils import path_utils

from firth import storage
from firth.analysis import ReportInputs
from firth.analysis.tasks.collect import TaskReportInputs, collect_task
from firth.analysis.tasks.report import render_task_report
from firth.components.described import describe
from firth.components.execution import Artifacts, Properties
from firth.recipes.run.adapting import AdaptingRecipe

REPORT_FILE = "report.html"


class Executor(base_executor.BaseExecutor):
    """Writes one report."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `report.html`.

        Args:
            input_dict: The inputs of TaskReporter.
            output_dict: `report`.
            exec_properties: `recipe`, as JSON, and `run_dir`.
        """
        artifacts = {name: found[0] for name, found in input_dict.items() if found}
        run_dir, recipe = exec_properties["run_dir"], AdaptingRecipe.from_json(exec_properties["recipe"])
        model, pushed = artifacts["model"], artifacts.get("pushed_model")
        run = ReportInputs(
            recipe=recipe,
            model=path_utils.serving_model_path(model.uri, path_utils.is_old_model_artifact(model)),
            model_run=artifacts["model_run"].uri,
            evaluation=artifacts["evaluation"].uri,
            blessing=artifacts["blessing"].uri,
            serving_report=artifacts["serving_report"].uri,
            run_dir=run_dir,
            pushed=None if pushed is None else bool(pushed.get_int_custom_property("pushed")),
            artifacts=[describe(name, artifact, run_dir) for name, artifact in artifacts.items()],
        )
        folders = {name: artifacts[name].uri for name in ("records", "rows", "found")}
        page = render_task_report(*collect_task(TaskReportInputs(recipe, run, **folders)))
        storage.write_text(
            os.path.join(artifact_utils.get_single_uri(output_dict["report"]), REPORT_FILE), page
        )
