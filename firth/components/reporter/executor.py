"""The work of Reporter: hands the artifacts' folders to `firth.analysis` and writes its page."""

import os

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils
from tfx.utils import path_utils

from firth import storage
from firth.analysis import ReportInputs, collect_run, render_report
from firth.components.described import describe
from firth.components.execution import Artifacts, Properties
from firth.recipes import Recipe

REPORT_FILE = "report.html"
# Folders that `ReportInputs` takes under the names of the inputs.
_FOLDERS = ("corpus_report", "tokenizer", "examples", "model_run", "evaluation", "blessing", "serving_report")


class Executor(base_executor.BaseExecutor):
    """Writes one report."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `report.html`.

        Args:
            input_dict: The inputs of Reporter.
            output_dict: `report`.
            exec_properties: `recipe`, as JSON, and `run_dir`.
        """
        artifacts = {name: found[0] for name, found in input_dict.items() if found}
        run_dir = exec_properties["run_dir"]
        model, pushed = artifacts["model"], artifacts.get("pushed_model")
        rates = artifacts.get("objective_rates")
        inputs = ReportInputs(
            recipe=Recipe.from_json(exec_properties["recipe"]),
            model=path_utils.serving_model_path(model.uri, path_utils.is_old_model_artifact(model)),
            run_dir=run_dir,
            pushed=None if pushed is None else bool(pushed.get_int_custom_property("pushed")),
            objective_rates="" if rates is None else rates.uri,
            artifacts=[describe(name, artifact, run_dir) for name, artifact in artifacts.items()],
            **{name: artifacts[name].uri for name in _FOLDERS},
        )
        path = os.path.join(artifact_utils.get_single_uri(output_dict["report"]), REPORT_FILE)
        storage.write_text(path, render_report(collect_run(inputs)))
