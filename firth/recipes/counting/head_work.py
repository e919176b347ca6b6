"""Multiply-adds of the heads for one row, forward."""

from firth.recipes.counting.backbone_work import Work, further_blocks, one_stack
from firth.recipes.counting.lengths import Lengths
from firth.recipes.goals.goal import Goal
from firth.recipes.models.model import (
    BiLSTMConfig,
    CausalTransformerConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
    TwoStreamTransformerConfig,
)
from firth.recipes.objectives.generator import generator_of
from firth.recipes.objectives.language_models import BidirectionalLM
from firth.recipes.objectives.masking import (
    MaskedLM,
    PermutationLM,
    ReplacedTokenDetection,
    SpanMasking,
    UniLM,
)


def _prediction(model: MaskedTransformerConfig, vocabulary: int) -> int:
    """One token: to the width of the token table, then to the vocabulary."""
    return model.embedding_width * (model.width + vocabulary)


def masked_lm(
    model: MaskedTransformerConfig, objective: MaskedLM | UniLM, vocabulary: int, lengths: Lengths
) -> Work:
    """Returns the work of the predictions, the pooled pairs, and the further blocks of a mask decoder.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
        lengths: Tokens of a row.
    """
    pairs = lengths.documents * model.width * (model.width + 2) if objective.trains_pooler else 0
    decoder = further_blocks(model, objective.further_passes, lengths)
    return Work(lengths.selected * _prediction(model, vocabulary) + pairs + decoder.row, decoder.step)


def span_masking(
    model: MaskedTransformerConfig, objective: SpanMasking, vocabulary: int, lengths: Lengths
) -> Work:
    """Returns the work of the predictions, twice with the span boundary objective.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
        lengths: Tokens of a row.
    """
    boundary = (3 * model.width + model.width) * model.width + model.embedding_width * vocabulary
    each = _prediction(model, vocabulary) + (boundary if objective.boundary else 0)
    return Work(lengths.selected * each)


def replaced_token_detection(
    model: MaskedTransformerConfig, objective: ReplacedTokenDetection, vocabulary: int, lengths: Lengths
) -> Work:
    """Returns the work of the generator over the whole row, its predictions, and one decision for each token.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
        lengths: Tokens of a row.
    """
    generator = generator_of(model, objective)
    work = one_stack(generator, lengths)
    decoder = further_blocks(generator, objective.further_passes, lengths)
    predictions = lengths.selected * _prediction(generator, vocabulary)
    decisions = lengths.input * model.width * (model.width + 1)
    return Work(work.row + decoder.row + predictions + decisions, work.step + decoder.step)


def permutation_lm(
    model: TwoStreamTransformerConfig, objective: PermutationLM, vocabulary: int, lengths: Lengths
) -> Work:
    """Returns the work of the projection of each predicted token to the vocabulary.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
        lengths: Tokens of a row.
    """
    del objective
    return Work(lengths.selected * model.width * vocabulary)


def language_model(
    model: CausalTransformerConfig | EncoderDecoderConfig, objective: Goal, vocabulary: int, lengths: Lengths
) -> Work:
    """Returns the work of the projection of every token to the table's width and to the vocabulary.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
        lengths: Tokens of a row.
    """
    del objective
    width = model.embedding_width
    to_table = model.width if width != model.width else 0
    return Work((lengths.target or lengths.input) * width * (to_table + vocabulary))


def bidirectional_lm(
    model: BiLSTMConfig, objective: BidirectionalLM, vocabulary: int, lengths: Lengths
) -> Work:
    """Returns the work of both directions, each against the drawn words and the true one, or against all.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
        lengths: Tokens of a row.
    """
    words = min((objective.negatives or vocabulary) + 1, vocabulary)
    return Work(2 * lengths.input * model.projection_width * words)
