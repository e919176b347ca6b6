"""Multiply-adds of an objective's heads for one row, forward."""

from collections.abc import Callable

from firth.recipes.counting.backbone_work import Work, further_blocks, one_stack
from firth.recipes.counting.lengths import Lengths, lengths_of
from firth.recipes.models.model import (
    BiLSTMConfig,
    CausalTransformerConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
    TwoStreamTransformerConfig,
)
from firth.recipes.objectives.language_models import BidirectionalLM
from firth.recipes.objectives.masking import (
    MaskedLM,
    PermutationLM,
    ReplacedTokenDetection,
    SpanMasking,
    UniLM,
)
from firth.recipes.objectives.objective_base import Objective
from firth.recipes.run.generator import generator_of
from firth.recipes.run.recipe import Recipe


def head_work(recipe: Recipe) -> Work:
    """Returns the multiply-adds of the heads that an objective puts on top of a backbone.

    Args:
        recipe: Recipe of one stage.
    """
    vocabulary = recipe.tokenizer.vocabulary_size
    return _HEADS[recipe.objective.kind](recipe.model, recipe.objective, vocabulary, lengths_of(recipe))


def _prediction(model: MaskedTransformerConfig, vocabulary: int) -> int:
    """One token: to the width of the token table, then to the vocabulary."""
    return model.embedding_width * (model.width + vocabulary)


def _masked_lm(
    model: MaskedTransformerConfig, objective: MaskedLM | UniLM, vocabulary: int, lengths: Lengths
) -> Work:
    pairs = lengths.documents * model.width * (model.width + 2) if objective.has_pair_task else 0
    again = objective.further_passes if isinstance(objective, MaskedLM) else 0
    decoder = further_blocks(model, again, lengths)
    return Work(lengths.selected * _prediction(model, vocabulary) + pairs + decoder.row, decoder.step)


def _span_masking(
    model: MaskedTransformerConfig, objective: SpanMasking, vocabulary: int, lengths: Lengths
) -> Work:
    boundary = (3 * model.width + model.width) * model.width + model.embedding_width * vocabulary
    each = _prediction(model, vocabulary) + (boundary if objective.boundary else 0)
    return Work(lengths.selected * each)


def _replaced_token_detection(
    model: MaskedTransformerConfig, objective: ReplacedTokenDetection, vocabulary: int, lengths: Lengths
) -> Work:
    """The generator over the whole row, its predictions, and one decision for each token."""
    generator = generator_of(model, objective)
    work = one_stack(generator, lengths)
    decoder = further_blocks(generator, objective.further_passes, lengths)
    predictions = lengths.selected * _prediction(generator, vocabulary)
    decisions = lengths.input * model.width * (model.width + 1)
    return Work(work.row + decoder.row + predictions + decisions, work.step + decoder.step)


def _permutation_lm(
    model: TwoStreamTransformerConfig, objective: PermutationLM, vocabulary: int, lengths: Lengths
) -> Work:
    del objective
    return Work(lengths.selected * model.width * vocabulary)


def _language_model(
    model: CausalTransformerConfig | EncoderDecoderConfig,
    objective: Objective,
    vocabulary: int,
    lengths: Lengths,
) -> Work:
    del objective
    width = model.embedding_width
    to_table = model.width if width != model.width else 0
    return Work((lengths.target or lengths.input) * width * (to_table + vocabulary))


def _bidirectional_lm(
    model: BiLSTMConfig, objective: BidirectionalLM, vocabulary: int, lengths: Lengths
) -> Work:
    """Both directions, each against the drawn words and the true one, or against all."""
    words = min((objective.negatives or vocabulary) + 1, vocabulary)
    return Work(2 * lengths.input * model.projection_width * words)


_HEADS: dict[str, Callable[..., Work]] = {
    "masked_lm": _masked_lm,
    "span_masking": _span_masking,
    "replaced_token_detection": _replaced_token_detection,
    "unilm": _masked_lm,
    "permutation_lm": _permutation_lm,
    "causal_lm": _language_model,
    "prefix_lm": _language_model,
    "bidirectional_lm": _bidirectional_lm,
    "span_corruption": _language_model,
    "iid_denoising": _language_model,
    "salient_spans": _language_model,
    "denoising": _language_model,
}
