"""The declaration of Reporter."""

from tfx import types
from tfx.dsl.components.base import executor_spec
from tfx.types import standard_artifacts

from firth.components.artifacts import CorpusReport, ObjectiveRates, RunReport, ServingReport, Tokenizer
from firth.components.declaration import Component, declare
from firth.components.reporter.executor import Executor
from firth.recipes import Recipe


class Reporter(Component):
    """Gathers the outputs of a run and writes one self-contained HTML page on it.

    Args:
        corpus_report: Output of Curator.
        tokenizer: Output of TokenizerGen.
        examples: Output of SequenceGen; sentences of its eval split are shown with the model's answers.
        model: Model of the Trainer.
        model_run: Model run of the Trainer, which holds the history of losses.
        evaluation: Evaluation of the Evaluator.
        blessing: Blessing of the Evaluator.
        serving_report: Output of ServingValidator.
        recipe: Recipe of the run.
        pushed_model: Output of the Pusher, so that the page says whether the model was pushed.
        objective_rates: Output of ObjectiveValidator.
        run_dir: Folder of a local run, for wall time and memory of the components; may be empty.

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
        optional_inputs={"objective_rates": ObjectiveRates, "pushed_model": standard_artifacts.PushedModel},
        outputs={"report": RunReport},
        parameters={"recipe": str, "run_dir": str},
    )
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self,
        corpus_report: types.BaseChannel,
        tokenizer: types.BaseChannel,
        examples: types.BaseChannel,
        model: types.BaseChannel,
        model_run: types.BaseChannel,
        evaluation: types.BaseChannel,
        blessing: types.BaseChannel,
        serving_report: types.BaseChannel,
        recipe: Recipe,
        pushed_model: types.BaseChannel | None = None,
        objective_rates: types.BaseChannel | None = None,
        run_dir: str = "",
    ) -> None:
        super().__init__(
            corpus_report=corpus_report,
            tokenizer=tokenizer,
            examples=examples,
            model=model,
            model_run=model_run,
            evaluation=evaluation,
            blessing=blessing,
            serving_report=serving_report,
            pushed_model=pushed_model,
            objective_rates=objective_rates,
            recipe=recipe.to_json(),
            run_dir=run_dir,
        )
