"""The component Reporter, and the base of the executors of reporters."""

import abc
import dataclasses
import os
from collections.abc import Mapping
from typing import Any, ClassVar

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils, standard_artifacts
from tfx.types.artifact import Artifact

from firth import storage
from firth.components.artifact_folders import model_folder
from firth.components.artifacts import (
    CorpusReport,
    Distances,
    MeasuredLimits,
    ObjectiveRates,
    RunReport,
    ServingReport,
    Tokenizer,
)
from firth.components.declaration import Artifacts, Component, Properties, declare, only_artifact
from firth.recipes import Recipe
from firth.recipes.run.run_recipe import RunRecipe
from firth.reports import ArtifactRecord, ReportInputs, collect_run, render_report
from firth.reports.collect import directory_digest

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
    """Writes one report; subclasses name the type of the recipe, and make the page."""

    recipe_type: ClassVar[type[RunRecipe]]

    @abc.abstractmethod
    def page(self, run: ReportInputs, folders: Mapping[str, str]) -> str:
        """Returns the page."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `report.html`.

        Raises:
            ValueError: if several artifacts of one input come in.
        """
        artifacts = {name: only_artifact(input_dict, name) for name, found in input_dict.items() if found}
        folders = {name: each.uri for name, each in artifacts.items()}
        known = {each.name for each in dataclasses.fields(ReportInputs)}
        model, pushed = artifacts["model"], artifacts.get("pushed_model")
        of_run: dict[str, Any] = {
            **{name: folder for name, folder in folders.items() if name in known},
            "model": model_folder(model),
            "run_dir": (run_dir := exec_properties["run_dir"]),
            "pushed": None if pushed is None else bool(pushed.get_int_custom_property("pushed")),
            "artifacts": [describe(name, artifact, run_dir) for name, artifact in artifacts.items()],
        }
        run = ReportInputs(recipe=self.recipe_type.from_json(exec_properties["recipe"]), **of_run)
        path = os.path.join(artifact_utils.get_single_uri(output_dict["report"]), REPORT_FILE)
        storage.write_text(path, self.page(run, folders))


class Executor(ReportExecutor):
    """Writes the report of a pre-training."""

    recipe_type = Recipe

    def page(self, run: ReportInputs, folders: Mapping[str, str]) -> str:
        """Returns the page."""
        return render_report(collect_run(run))


class Reporter(Component, executor=Executor):
    """Gathers the outputs of a run and writes one self-contained HTML page on it.

    Args:
        recipe: Recipe of the run.
        run_dir: Folder of a local run, for wall time and memory of the components; may be empty.
        **channels: Outputs of components, by name: `corpus_report` of Curator; `tokenizer` of TokenizerGen;
            `examples` of SequenceGen, whose eval split gives the sentences that are shown with the model's
            answers; `model` and `model_run`, which holds the history of losses, of the Trainer; `evaluation`
            and `blessing` of the Evaluator; `serving_report` of ServingValidator. `pushed_model` of the
            Pusher, `objective_rates` of ObjectiveValidator, `distances` of DistributionValidator,
            `shares` of CorpusValidator (its output `measured`) and `tuner_results` of the Tuner may be left
            out.

    Outputs:
        report: `report.html`.
    """

    SPEC_CLASS = declare(
        inputs={
            "corpus_report": CorpusReport,
            "tokenizer": Tokenizer,
            "examples": standard_artifacts.Examples,
            "model": standard_artifacts.Model,
            "model_run": standard_artifacts.ModelRun,
            "evaluation": standard_artifacts.ModelEvaluation,
            "blessing": standard_artifacts.ModelBlessing,
            "serving_report": ServingReport,
        },
        optional_inputs={
            "distances": Distances,
            "shares": MeasuredLimits,
            "tuner_results": standard_artifacts.TunerResults,
            "objective_rates": ObjectiveRates,
            "pushed_model": standard_artifacts.PushedModel,
        },
        outputs={"report": RunReport},
        parameters={"recipe": str, "run_dir": str},
    )

    def __init__(self, recipe: Recipe, run_dir: str = "", **channels: types.BaseChannel | None) -> None:
        super().__init__(recipe=recipe.to_json(), run_dir=run_dir, **channels)
