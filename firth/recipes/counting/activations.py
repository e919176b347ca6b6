"""What the forward pass of one row keeps for its backward pass: an estimate, in numbers."""

from firth.recipes.counting.blocks import AnyTransformer
from firth.recipes.counting.lengths import Lengths
from firth.recipes.goals.goal import Goal
from firth.recipes.models.model import (
    BiLSTMConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
    TwoStreamTransformerConfig,
)
from firth.recipes.objectives.generator import generator_of
from firth.recipes.objectives.language_models import BidirectionalLM
from firth.recipes.objectives.masking import MaskedLM, ReplacedTokenDetection, SpanMasking, UniLM


def one_stack(model: AnyTransformer, lengths: Lengths) -> int:
    """Returns the numbers kept by each block over the whole row.

    Args:
        model: Shape of the backbone.
        lengths: Tokens of a row.
    """
    return lengths.input * (model.layers * _block(model, lengths.input) + model.width)


def encoder_decoder(model: EncoderDecoderConfig, lengths: Lengths) -> int:
    """Returns the numbers kept by an encoder over the inputs and a decoder over the targets.

    Args:
        model: Shape of the backbone.
        lengths: Tokens of a row.
    """
    source, target = lengths.input, lengths.target
    cross = 4 * model.width + 3 * model.attention.heads * source
    decoder = model.blocks_of_decoder * (_block(model, target) + cross) + model.width
    return one_stack(model, lengths) + target * decoder


def two_stream_transformer(model: TwoStreamTransformerConfig, lengths: Lengths) -> int:
    """Returns the numbers kept by both streams, scores before they are shifted into place included.

    Args:
        model: Shape of the backbone.
        lengths: Tokens of a row.
    """
    token = _block(model, lengths.input) + 2 * model.attention.heads * lengths.input
    return (lengths.input + lengths.selected) * (model.layers * token + model.width)


def bilstm(model: BiLSTMConfig, lengths: Lengths) -> int:
    """Returns the numbers kept by the convolutions and highway layers of each word, and all LSTMs.

    Args:
        model: Shape of the backbone.
        lengths: Tokens of a row.
    """
    characters = model.characters
    convolved = sum(count * (characters.max_characters - span + 1) for span, count in characters.filters)
    highways = 4 * characters.highway_layers * sum(count for _, count in characters.filters)
    cells = 2 * model.layers * (6 * model.cells + 3 * model.projection_width)
    return lengths.input * (convolved + highways + cells)


def nothing(model: MaskedTransformerConfig, objective: Goal, lengths: Lengths) -> int:
    """Returns 0: these heads keep logits alone.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        lengths: Tokens of a row.
    """
    del model, objective, lengths
    return 0


def mask_decoder(model: MaskedTransformerConfig, objective: MaskedLM | UniLM, lengths: Lengths) -> int:
    """Returns the numbers kept by the further blocks of a mask decoder.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        lengths: Tokens of a row.
    """
    return objective.further_passes * lengths.input * _block(model, lengths.input)


def generator(model: MaskedTransformerConfig, objective: ReplacedTokenDetection, lengths: Lengths) -> int:
    """Returns the numbers kept by the generator's blocks, and those of its mask decoder.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        lengths: Tokens of a row.
    """
    small = generator_of(model, objective)
    further = objective.further_passes * lengths.input * _block(small, lengths.input)
    return one_stack(small, lengths) + further


def selected_logits(objective: Goal, vocabulary: int, lengths: Lengths) -> int:
    """Returns the logits of the selected predictions.

    Those of objectives that predict every token are made in chunks and not kept.

    Args:
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
        lengths: Tokens of a row.
    """
    del objective
    return lengths.selected * vocabulary


def span_logits(objective: SpanMasking, vocabulary: int, lengths: Lengths) -> int:
    """Returns the logits of the selected predictions, twice with the span boundary objective.

    Args:
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
        lengths: Tokens of a row.
    """
    return (2 if objective.boundary else 1) * lengths.selected * vocabulary


def sampled_logits(objective: BidirectionalLM, vocabulary: int, lengths: Lengths) -> int:
    """Returns the logits of the drawn words, in both directions.

    Those of all words are made in chunks and not kept.

    Args:
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
        lengths: Tokens of a row.
    """
    drawn = objective.negatives or 0
    return 2 * lengths.input * drawn if drawn < vocabulary else 0


def _block(model: AnyTransformer | TwoStreamTransformerConfig, keys: int) -> int:
    inner = (5 if model.feed_forward.gated else 3) * model.inner_width
    return 9 * model.width + inner + 3 * model.attention.heads * keys
