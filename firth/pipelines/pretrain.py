"""The pre-training pipeline: from raw text to a served model.

CorpusExampleGen -> StatisticsGen -> SchemaGen -> ExampleValidator -> AnomalyValidator
                 -> Curator -> CorpusReporter -> CorpusValidator
                 -> TokenizerGen -> SequenceGen -> ObjectiveValidator -> Trainer -> Evaluator
                 -> ServingValidator -> Pusher -> Reporter

Of a recipe with a base, an Importer makes the bundle known to ML Metadata: TokenizerGen and Trainer take it.
Of one with a warm start, a Resolver gives them the latest blessed model instead, where there is one.
Of one with a search, a Tuner before the Trainer gives it the best values; of one with drift, a
DistributionValidator before the Curator compares the records with those of the last run.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfx.components import Pusher as TfxPusher, Trainer
from tfx.dsl.components.base.base_node import BaseNode
from tfx.dsl.components.common.resolver import ResolverStrategy
from tfx.orchestration.pipeline import Pipeline
from tfx.types import BaseChannel

from firth.components import ObjectiveValidator, Pusher, Reporter, SequenceGen, TokenizerGen
from firth.components.file_digests import FILES, FileDigests
from firth.pipelines.corpus import assemble, corpus_components
from firth.pipelines.distributions import distances_in
from firth.pipelines.trained_model import (
    MODEL,
    import_base,
    latest_blessed,
    model_components,
    report_channels,
)
from firth.recipes import Evaluation, Recipe
from firth.recipes.run.stages import stages_of
from firth.recipes.run.validation import CorpusValidation


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
    has_baseline: bool = True,
    make_trainer: Callable[..., Trainer] = Trainer,
    make_pusher: Callable[..., TfxPusher] = Pusher,
    digests: FileDigests = FILES,
) -> Pipeline:
    """Returns the TFX pipeline that a recipe describes.

    Each component gets only its part of the recipe, so a changed key reruns only what depends on it.

    Args:
        baseline_strategy: Strategy that chooses the blessed model which the new one is compared with. Without
            it, `LatestComparableModelStrategy` if there is a `metadata_path`, since a local runner knows any
            strategy; otherwise TFX's own `LatestBlessedModelStrategy`, the only one that Vertex knows.

    Raises:
        firth.corpus.CorpusError: if a source names no file, or a cleaning step a file that does not exist.
    """
    if recipe.warm_start and not has_baseline:
        raise ValueError("warm_start: this orchestrator cannot look up the model of an earlier run")
    start = _start(recipe)
    base = start.outputs["result" if recipe.base else MODEL] if start else None
    corpus_part = corpus_components(recipe, source_schema, digests, bool(metadata_path))
    corpus = {**corpus_part, **_sequences(recipe, corpus_part, base)}
    examples = corpus["sequences"].outputs["examples"]
    objective = ObjectiveValidator(
        examples=examples, objective=recipe.objective, sequences=recipe.sequences, seed=recipe.seed
    )
    model = model_components(
        recipe,
        _training_recipe(recipe),
        examples,
        base,
        checkpoint_root or os.path.join(pipeline_root, "checkpoints"),
        serving_dir or os.path.join(pipeline_root, "serving"),
        baseline_strategy=baseline_strategy,
        has_baseline=has_baseline,
        is_local=bool(metadata_path),
        make_trainer=make_trainer,
        make_pusher=make_pusher,
        # It takes no input from the validator, but must not start if the validator fails.
        upstream=[objective],
    )
    reporter = Reporter(
        corpus_report=corpus["curator"].outputs["report"],
        tokenizer=corpus["tokenizer"].outputs["tokenizer"],
        examples=examples,
        objective_rates=objective.outputs["rates"],
        distances=distances_in(corpus.values()),
        shares=corpus["corpus_validator"].outputs["measured"] if recipe.validation.shares else None,
        recipe=recipe,
        run_dir=run_dir,
        **report_channels(model),
    )
    components = [*([start] if start else []), *corpus.values(), objective, *model.values(), reporter]
    return assemble(recipe, components, pipeline_root, metadata_path, beam_pipeline_args, enable_cache)


def _start(recipe: Recipe) -> BaseNode | None:
    """Returns the node that gives the model which the run starts from; None for weights drawn by the seed."""
    if recipe.base is not None:
        return import_base(recipe.base)
    return latest_blessed() if recipe.warm_start else None


def _sequences(recipe: Recipe, corpus: Mapping[str, Any], base: BaseChannel | None) -> dict[str, Any]:
    """Returns the components from a cleaned corpus to packed rows, by their roles."""
    documents = corpus["curator"].outputs["examples"]
    tokenizer = TokenizerGen(
        examples=documents,
        tokenizer=recipe.tokenizer,
        normalization=recipe.cleaning.text_steps,
        base=base,
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
        report=corpus["curator"].outputs["report"],
    )
    return {"tokenizer": tokenizer, "sequences": sequences}


def _training_recipe(recipe: Recipe) -> Recipe:
    """Returns the recipe without keys that the Trainer does not read and its cache must not depend on."""
    cleaning = recipe.cleaning.without_limits()
    checks = {"validation": CorpusValidation(), "source_schema": None, "evaluation": Evaluation()}
    unread = {"description": "", "infra_validation": None, "metadata": None, **checks}
    return recipe.model_copy(update={**unread, "cleaning": cleaning})
