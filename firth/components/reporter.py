"""The declaration of Reporter."""

from collections.abc import Mapping

from tfx import types
from tfx.types import standard_artifacts

from firth.components.artifacts import (
    CorpusReport,
    Distances,
    MeasuredLimits,
    ObjectiveRates,
    RunReport,
    ServingReport,
    Tokenizer,
)
from firth.components.declaration import Component, declare
from firth.components.reporting import ReportExecutor
from firth.recipes import Recipe
from firth.reports import ReportInputs, collect_run, render_report


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
