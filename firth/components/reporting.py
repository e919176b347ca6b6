"""The work that reporters share: the folders and the facts of a run's artifacts, and the page on them."""

import abc
import dataclasses
import os
from collections.abc import Mapping
from typing import Any, ClassVar

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils
from tfx.types.artifact import Artifact
from tfx.utils import path_utils

from firth import storage
from firth.components.declaration import Artifacts, Properties
from firth.recipes.run.run_recipe import RunRecipe
from firth.reports import ArtifactRecord, ReportInputs
from firth.reports.lineage import directory_digest

REPORT_FILE = "report.html"


def describe(name: str, artifact: Artifact, run_dir: str) -> ArtifactRecord:
    """Returns the facts of an artifact that a report shows."""
    is_below = bool(run_dir) and artifact.uri.startswith(run_dir + os.sep)
    digest = directory_digest(artifact.uri)
    properties = (artifact.get_string_custom_property(key) for key in ("digest", "tokenizer_digest"))
    tokenizer = next(filter(None, properties), "")
    return ArtifactRecord(
        id=artifact.id,
        name=name,
        type=artifact.type_name,
        uri=os.path.relpath(artifact.uri, run_dir) if is_below else artifact.uri,
        digest=f"{digest}, of the tokenizer {tokenizer}" if tokenizer else digest,
    )


class ReportExecutor(base_executor.BaseExecutor, abc.ABC):
    """Writes one report; subclasses say of which type the recipe is, and make the page."""

    recipe_type: ClassVar[type[RunRecipe]]

    @abc.abstractmethod
    def page(self, run: ReportInputs, folders: Mapping[str, str]) -> str:
        """Returns the page."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `report.html`."""
        artifacts = {name: found[0] for name, found in input_dict.items() if found}
        folders = {name: each.uri for name, each in artifacts.items()}
        known = {each.name for each in dataclasses.fields(ReportInputs)}
        model, pushed = artifacts["model"], artifacts.get("pushed_model")
        of_run: dict[str, Any] = {
            **{name: folder for name, folder in folders.items() if name in known},
            "model": path_utils.serving_model_path(model.uri, path_utils.is_old_model_artifact(model)),
            "run_dir": (run_dir := exec_properties["run_dir"]),
            "pushed": None if pushed is None else bool(pushed.get_int_custom_property("pushed")),
            "artifacts": [describe(name, artifact, run_dir) for name, artifact in artifacts.items()],
        }
        run = ReportInputs(recipe=self.recipe_type.from_json(exec_properties["recipe"]), **of_run)
        path = os.path.join(artifact_utils.get_single_uri(output_dict["report"]), REPORT_FILE)
        storage.write_text(path, self.page(run, folders))
