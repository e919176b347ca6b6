"""The pre-training pipeline: from raw text to a served model.

CorpusExampleGen -> StatisticsGen -> SchemaGen -> ExampleValidator -> AnomalyValidator
                 -> Curator -> CorpusReporter -> CorpusValidator
                 -> TokenizerGen -> SequenceGen -> ObjectiveValidator -> Trainer -> Evaluator
                 -> ServingValidator -> Pusher -> Reporter

Of a recipe with a base, an Importer makes the bundle known to ML Metadata: TokenizerGen and Trainer take it.
"""

import os
from collections.abc import Sequence
from typing import Any

from tfx.components import Evaluator, Trainer
from tfx.dsl.components.common.importer import Importer
from tfx.dsl.components.common.resolver import Resolver, ResolverStrategy
from tfx.dsl.input_resolution.strategies.latest_blessed_model_strategy import LatestBlessedModelStrategy
from tfx.orchestration.pipeline import Pipeline
from tfx.proto import pusher_pb2, trainer_pb2
from tfx.types import Channel, standard_artifacts

from firth.components import (
    ObjectiveValidator,
    Pusher,
    Reporter,
    SequenceGen,
    ServingValidator,
    TokenizerGen,
)
from firth.evaluation import build_eval_config
from firth.pipelines.baseline import BLESSING, CURRENT, MODEL, LatestComparableModelStrategy
from firth.pipelines.corpus import assemble, corpus_components
from firth.recipes import Evaluation, Recipe
from firth.recipes.run.stages import stages_of

RUN_FN = "firth.training.run_fn.run_fn"
BASE_IMPORTER = "BaseImporter"


def create_pipeline(
    recipe: Recipe,
    pipeline_root: str,
    *,
    serving_dir: str | None = None,
    checkpoint_root: str | None = None,
    run_dir: str = "",
    metadata_path: str | None = None,
    beam_pipeline_args: Sequence[str] = (),
    enable_cache: bool = True,
    source_schema: str | None = None,
    baseline_strategy: type[ResolverStrategy] | None = None,
) -> Pipeline:
    """Returns the TFX pipeline that a recipe describes.

    Each component gets only its part of the recipe, so a changed key reruns only what depends on it.

    Args:
        recipe: Recipe to build the pipeline of.
        pipeline_root: Folder where TFX keeps artifacts, on any file system that TFX reads.
        serving_dir: Folder where blessed models are pushed; `serving` next to the artifacts if it is not
            given.
        checkpoint_root: Folder where the training keeps checkpoints, so that a killed run goes on;
            `checkpoints` next to the artifacts if it is not given.
        run_dir: Folder of a local run, from which the report takes wall time and memory; may be empty.
        metadata_path: Path of a local runner's SQLite file; None leaves the metadata to the orchestrator.
        beam_pipeline_args: Options for every component on Beam; without any, Beam runs in this process.
        enable_cache: True to reuse outputs of components whose inputs and properties have not changed.
        source_schema: Path of the schema that the sources' records must match; the recipe's if not given.
        baseline_strategy: Strategy that chooses the blessed model which the new one is compared with. Without
            it, `LatestComparableModelStrategy` if there is a `metadata_path`, since a local runner knows any
            strategy; otherwise TFX's own `LatestBlessedModelStrategy`, the only one that Kubeflow and Vertex
            know.

    Raises:
        firth.corpus.CorpusError: if a source names no file, or a cleaning step a file that does not exist.
    """
    base = _base(recipe)
    corpus = _corpus(recipe, source_schema, base)
    checkpoint_root = checkpoint_root or os.path.join(pipeline_root, "checkpoints")
    strategy = baseline_strategy or (
        LatestComparableModelStrategy if metadata_path else LatestBlessedModelStrategy
    )
    model = _model(recipe, corpus["sequences"], base, checkpoint_root, strategy)
    push = _push(model, serving_dir or os.path.join(pipeline_root, "serving"))
    reporter = Reporter(
        corpus_report=corpus["curator"].outputs["report"],
        tokenizer=corpus["tokenizer"].outputs["tokenizer"],
        examples=corpus["sequences"].outputs["examples"],
        model=model["trainer"].outputs["model"],
        model_run=model["trainer"].outputs["model_run"],
        evaluation=model["evaluator"].outputs["evaluation"],
        blessing=model["evaluator"].outputs["blessing"],
        serving_report=model["validator"].outputs["report"],
        pushed_model=push.outputs["pushed_model"],
        objective_rates=model["objective"].outputs["rates"],
        recipe=recipe,
        run_dir=run_dir,
    )
    components = [*base.values(), *corpus.values(), *model.values(), push, reporter]
    return assemble(recipe, components, pipeline_root, metadata_path, beam_pipeline_args, enable_cache)


def _base(recipe: Recipe) -> dict[str, Any]:
    """Returns the node that imports the recipe's base, if it has one.

    Another digest makes another artifact, so that nothing that was made from the bundle that stood in its
    place before is taken from the cache.
    """
    if recipe.base is None:
        return {}
    importer = Importer(
        source_uri=recipe.base.bundle,
        artifact_type=standard_artifacts.Model,
        custom_properties={"digest": recipe.base.digest},
    )
    return {"base": importer.with_id(BASE_IMPORTER)}


def _imported(base: dict[str, Any]) -> Channel | None:
    return base["base"].outputs["result"] if base else None


def _corpus(recipe: Recipe, source_schema: str | None, base: dict[str, Any]) -> dict[str, Any]:
    """Returns the components from files to packed rows, by their roles."""
    corpus = corpus_components(recipe, source_schema)
    documents = corpus["curator"].outputs["examples"]
    tokenizer = TokenizerGen(
        examples=documents,
        tokenizer=recipe.tokenizer,
        normalization=recipe.cleaning.text_steps,
        base=_imported(base),
        added_words=recipe.base.added_words if recipe.base else (),
        added_count=recipe.base.added_count if recipe.base else 0,
    )
    # It takes no input from the validator, but must not start if the validator fails.
    tokenizer.add_upstream_node(corpus["corpus_validator"])
    sequences = SequenceGen(
        examples=documents,
        tokenizer=tokenizer.outputs["tokenizer"],
        sequences=recipe.sequences,
        special_tokens=recipe.objective.special_tokens,
        raw_length=recipe.objective.raw_length(recipe.sequences),
        mixture=recipe.mixture,
        sources=[source.name for source in recipe.sources],
        stages={
            stage.sequences.length: stage.objective.raw_length(stage.sequences)
            for _, _, stage in stages_of(recipe)
            if stage.sequences.length != recipe.sequences.length
        },
    )
    return {**corpus, "tokenizer": tokenizer, "sequences": sequences}


def _model(
    recipe: Recipe,
    sequences: SequenceGen,
    base: dict[str, Any],
    checkpoint_root: str,
    baseline_strategy: type[ResolverStrategy],
) -> dict[str, Any]:
    """Returns the components from packed rows to an evaluated model, by their roles."""
    examples = sequences.outputs["examples"]
    objective = ObjectiveValidator(
        examples=examples, objective=recipe.objective, sequences=recipe.sequences, seed=recipe.seed
    )
    trainer = Trainer(
        run_fn=RUN_FN,
        examples=examples,
        base_model=_imported(base),
        train_args=trainer_pb2.TrainArgs(num_steps=recipe.training.steps),
        eval_args=trainer_pb2.EvalArgs(),
        custom_config={"recipe": _training_recipe(recipe).to_json(), "checkpoint_root": checkpoint_root},
    )
    # It takes no input from the validator, but must not start if the validator fails.
    trainer.add_upstream_node(objective)
    baseline = _baseline(trainer, baseline_strategy)
    evaluator = Evaluator(
        examples=examples,
        model=trainer.outputs["model"],
        baseline_model=baseline.outputs["model"],
        eval_config=build_eval_config(recipe.evaluation, recipe.goal),
    )
    validator = ServingValidator(model=trainer.outputs["model"], examples=examples)
    return {
        "objective": objective,
        "trainer": trainer,
        "baseline": baseline,
        "evaluator": evaluator,
        "validator": validator,
    }


def _baseline(trainer: Trainer, strategy: type[ResolverStrategy]) -> Resolver:
    """Returns the node that finds the blessed model to evaluate next to."""
    channels = {
        MODEL: Channel(type=standard_artifacts.Model),
        BLESSING: Channel(type=standard_artifacts.ModelBlessing),
    }
    if issubclass(strategy, LatestComparableModelStrategy):
        channels[CURRENT] = trainer.outputs["model"]
    return Resolver(strategy_class=strategy, **channels).with_id("LatestBlessedModel")


def _training_recipe(recipe: Recipe) -> Recipe:
    """Returns the recipe without what the Trainer does not read, so that its cache does not depend on it."""
    cleaning = recipe.cleaning.without_limits()
    return recipe.model_copy(
        update={"description": "", "source_schema": None, "evaluation": Evaluation(), "cleaning": cleaning}
    )


def _push(model: dict[str, Any], serving_dir: str) -> Pusher:
    return Pusher(
        model=model["trainer"].outputs["model"],
        model_blessing=model["evaluator"].outputs["blessing"],
        infra_blessing=model["validator"].outputs["blessing"],
        push_destination=pusher_pb2.PushDestination(
            filesystem=pusher_pb2.PushDestination.Filesystem(base_directory=serving_dir)
        ),
    )
