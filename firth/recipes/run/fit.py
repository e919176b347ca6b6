"""Checks that the parts of a recipe fit together."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.corpus.classifier import ClassifierStep
from firth.recipes.corpus.duplicates import SourcePriority
from firth.recipes.corpus.mixture import AsIs, WeightedMixture
from firth.recipes.models.blocks import DisentangledPositionsConfig
from firth.recipes.models.model import MaskedTransformerConfig
from firth.recipes.objectives.denoising import SalientSpans, _Sentinels
from firth.recipes.objectives.language_models import BidirectionalLM
from firth.recipes.objectives.masking import (
    MaskDecoding,
    MaskedLM,
    PermutationLM,
    ReplacedTokenDetection,
    SpanMasking,
    UniLM,
    _Masking,
)
from firth.recipes.run.generator import generator_of
from firth.recipes.run.stages import stages_of
from firth.recipes.training.evaluation import MetricName

if TYPE_CHECKING:
    from firth.recipes.run.recipe import Recipe

# Each loss has an accuracy; `text` and `unigram` are no losses.
LOSSES = {name.removesuffix("_accuracy") for name in get_args(MetricName) if name.endswith("_accuracy")}


def misfits(recipe: "Recipe") -> Iterator[str]:
    """Yields a line for each pair of parts that cannot work together.

    Args:
        recipe: Recipe whose parts are each valid on their own.
    """
    yield from _model_and_objective(recipe)
    yield from _lengths(recipe)
    yield from _tokenizer(recipe)
    yield from _candidates(recipe)
    yield from _pairs(recipe)
    yield from _boundary(recipe)
    yield from _generator(recipe)
    yield from _mask_decoder(recipe)
    yield from _carried_state(recipe)
    yield from _stages(recipe)
    yield from _names(recipe)
    yield from _named_sources(recipe)
    yield from _mixture(recipe)


def _model_and_objective(recipe: "Recipe") -> Iterator[str]:
    model, objective = recipe.model, recipe.objective
    if model.kind not in objective.model_kinds:
        needed = " or ".join(objective.model_kinds)
        yield f"objective.kind: {objective.kind} needs model.kind: {needed}, not {model.kind}"


def _lengths(recipe: "Recipe") -> Iterator[str]:
    objective, sequences, longest = recipe.objective, recipe.sequences, recipe.model.longest
    length = max(objective.input_length(sequences), objective.target_length(sequences))
    if longest is not None and length > longest:
        if length == sequences.length:
            yield f"sequences.length: {length} is above model.positions.length: {longest}"
        else:
            yield f"{objective.kind} makes rows of {length}, which is above model.positions.length: {longest}"
    if isinstance(objective, _Masking | PermutationLM):
        predictions = objective.max_predictions
        if predictions > sequences.length:
            yield f"objective.max_predictions: {predictions} is above sequences.length: {sequences.length}"


def _tokenizer(recipe: "Recipe") -> Iterator[str]:
    objective, tokenizer = recipe.objective, recipe.tokenizer
    if isinstance(objective, BidirectionalLM) != (tokenizer.kind == "words"):
        of_pieces = "wordpiece, bpe or sentencepiece"
        needed = "words" if isinstance(objective, BidirectionalLM) else of_pieces
        yield f"objective.kind: {objective.kind} needs tokenizer.kind: {needed}"
    elif isinstance(objective, _Sentinels):
        sentinels = objective.sentinels_needed(recipe.sequences)
        if sentinels > tokenizer.sentinels:
            yield (
                f"objective.kind: {objective.kind} needs up to {sentinels} sentinels for a document of full "
                + (f"length; set tokenizer.sentinels: {sentinels} or more")
            )
    if isinstance(objective, SalientSpans) and tokenizer.lowercase:
        yield "objective.kind: salient_spans needs tokenizer.lowercase: false"
    if tokenizer.kind == "words" and recipe.model.kind == "bilstm":
        characters = recipe.model.characters.max_characters
        if characters != tokenizer.max_characters:
            yield (
                f"tokenizer.max_characters: {tokenizer.max_characters} is not "
                f"model.characters.max_characters: {characters}"
            )


def _candidates(recipe: "Recipe") -> Iterator[str]:
    asked, pieces = recipe.export.top_k, recipe.tokenizer.vocabulary_size
    if asked > pieces:
        yield f"export.top_k: {asked} is above tokenizer.vocabulary_size: {pieces}"


def _pairs(recipe: "Recipe") -> Iterator[str]:
    objective, model = recipe.objective, recipe.model
    has_pairs = isinstance(objective, UniLM) or (isinstance(objective, MaskedLM) and objective.has_pairs)
    if has_pairs and isinstance(model, MaskedTransformerConfig) and model.embeddings.segments == 1:
        yield f"objective.kind: {objective.kind} with pairs needs model.embeddings.segments: 2, or 0 for none"
    if not objective.has_pair_task and recipe.export.pooling == "cls":
        yield "export.pooling: cls needs objective.next_sentence: true or objective.sentence_order: true"


def _boundary(recipe: "Recipe") -> Iterator[str]:
    objective, model = recipe.objective, recipe.model
    if not isinstance(objective, SpanMasking) or not isinstance(model, MaskedTransformerConfig):
        return
    width, table = model.width, model.embedding_width
    if objective.boundary and table != width:
        yield f"objective.boundary: true needs model.embeddings.width: {width}, not {table}"


def _generator(recipe: "Recipe") -> Iterator[str]:
    objective, model = recipe.objective, recipe.model
    if isinstance(objective, ReplacedTokenDetection) and isinstance(model, MaskedTransformerConfig):
        try:
            generator_of(model, objective)
        except pydantic.ValidationError as error:
            reason = error.errors()[0]["ctx"]["error"]
            yield (
                f"objective.generator_width_fraction: {objective.generator_width_fraction:g} makes a "
                f"generator that cannot work, for its {reason}"
            )


def _mask_decoder(recipe: "Recipe") -> Iterator[str]:
    objective, model = recipe.objective, recipe.model
    if not isinstance(objective, MaskDecoding) or not isinstance(model, MaskedTransformerConfig):
        return
    if objective.mask_decoder is None:
        return
    if not isinstance(model.positions, DisentangledPositionsConfig):
        yield (
            f"objective.mask_decoder: it needs model.positions.kind: disentangled, not {model.positions.kind}"
        )
    if recipe.sequences.length > objective.mask_decoder.length:
        yield (
            f"sequences.length: {recipe.sequences.length} is above "
            f"objective.mask_decoder.length: {objective.mask_decoder.length}"
        )


def _carried_state(recipe: "Recipe") -> Iterator[str]:
    if recipe.model.kind == "bilstm" and recipe.model.carry_state and recipe.training.strategy != "none":
        yield (
            f"training.strategy: {recipe.training.strategy} does not work with model.carry_state: true, "
            "whose state belongs to the rows of one device"
        )


def _stages(recipe: "Recipe") -> Iterator[str]:
    known = set(_on_length(recipe))
    earlier = recipe.training.earlier_stages
    for number, stage in enumerate(earlier):
        if stage.max_predictions and not hasattr(recipe.objective, "max_predictions"):
            yield f"training.earlier_stages.{number}.max_predictions: {recipe.objective.kind} has no such key"
    for number, (_, _, changed) in enumerate(stages_of(recipe)[:-1]):
        for line in _on_length(changed):
            if line not in known:
                yield f"training.earlier_stages.{number}: {line}"
    if earlier and recipe.model.kind == "bilstm" and recipe.model.carry_state:
        yield "training.earlier_stages: they do not work with model.carry_state: true, as batches differ"


def _on_length(recipe: "Recipe") -> Iterator[str]:
    """Yields what may differ from stage to stage."""
    yield from _lengths(recipe)
    yield from _tokenizer(recipe)
    yield from _mask_decoder(recipe)


def _names(recipe: "Recipe") -> Iterator[str]:
    names = [source.name for source in recipe.sources]
    for name in names:
        if names.count(name) > 1:
            yield f"sources: two are named {name!r}; give each a name of its own"
    known = [f"{loss}_{what}" for loss in recipe.objective.losses for what in ("perplexity", "accuracy")]
    for threshold in recipe.evaluation.thresholds:
        loss, _, what = threshold.metric.partition("_")
        if loss in LOSSES and what in ("perplexity", "accuracy") and threshold.metric not in known:
            yield f"evaluation.thresholds: {threshold.metric} needs an objective with the loss {loss!r}"


def _named_sources(recipe: "Recipe") -> Iterator[str]:
    names = [source.name for source in recipe.sources]
    for number, step in enumerate(recipe.cleaning.steps):
        if not isinstance(step, ClassifierStep | SourcePriority):
            continue
        for key, given in step.source_names.items():
            for name in given:
                if name not in names:
                    where = f"cleaning.steps.{number}.{key}"
                    yield f"{where}: no source is named {name!r}; {suggest(name, names)}"
        if isinstance(step, ClassifierStep) and not set(step.crawl or names) - set(step.reference):
            yield f"cleaning.steps.{number}.reference: names all sources, so that none is left to judge"


def _mixture(recipe: "Recipe") -> Iterator[str]:
    mixture, names = recipe.mixture, [source.name for source in recipe.sources]
    if isinstance(mixture, AsIs):
        return
    weights = mixture.weights if isinstance(mixture, WeightedMixture) else dict.fromkeys(names)
    for key, given in {"weights": weights, "max_repeats_of": mixture.max_repeats_of}.items():
        for name in given:
            if name not in names:
                yield f"mixture.{key}.{name}: no source is named {name!r}; {suggest(name, names)}"
    for name in names:
        if name not in weights:
            yield f"mixture.weights: none for the source {name!r}; 0 leaves it out"
