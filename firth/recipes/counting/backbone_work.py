"""Multiply-adds of each family's backbone, forward."""

import dataclasses

from firth.recipes.counting.blocks import AnyTransformer
from firth.recipes.counting.lengths import Lengths
from firth.recipes.models.model import (
    BiLSTMConfig,
    CharacterCNNConfig,
    EncoderDecoderConfig,
    TwoStreamTransformerConfig,
)


@dataclasses.dataclass(frozen=True)
class Work:
    """Multiply-adds of one row, and those that a step needs once for all its rows.

    Attributes:
        row: Multiply-adds of one row.
        step: Multiply-adds of a step that do not depend on its number of rows.
    """

    row: int
    step: int = 0


def one_stack(model: AnyTransformer, lengths: Lengths) -> Work:
    """Returns the work of all blocks over the whole row, scores of masked pairs included.

    Args:
        model: Shape of the backbone.
        lengths: Tokens of a row.
    """
    blocks = further_blocks(model, model.layers, lengths)
    return Work(_factorised(model) * lengths.input + blocks.row, blocks.step)


def further_blocks(model: AnyTransformer, count: int, lengths: Lengths) -> Work:
    """Returns the work of some blocks over the whole row.

    Args:
        model: Shape of the backbone.
        count: Number of blocks.
        lengths: Tokens of a row.
    """
    length = lengths.input
    return Work(count * length * _block(model, length), count * _distances(model, length))


def encoder_decoder(model: EncoderDecoderConfig, lengths: Lengths) -> Work:
    """Returns the work of the encoder over the inputs and of the decoder over the targets.

    Each block of the decoder reads the inputs too.

    Args:
        model: Shape of the backbone.
        lengths: Tokens of a row.
    """
    source, target = lengths.input, lengths.target
    queries, keys = _head_widths(model)
    cross = target * (2 * model.width * queries + 2 * queries * source) + source * 2 * model.width * keys
    decoder = model.blocks_of_decoder * (target * _block(model, target) + cross)
    return Work(one_stack(model, lengths).row + _factorised(model) * target + decoder)


def two_stream_transformer(model: TwoStreamTransformerConfig, lengths: Lengths) -> Work:
    """Returns the work of the content stream over the row and of the query stream over predicted positions.

    Args:
        model: Shape of the backbone.
        lengths: Tokens of a row.
    """
    length, width = lengths.input, model.width
    inner = model.attention.heads * model.head_width
    # Scores by content and by relative position (twice the length of rows), and the sum of values.
    seen = inner * (length + 2 * length + length)
    after = inner * width + 2 * width * model.inner_width
    content = 3 * width * inner + seen + after
    query = width * inner + seen + after
    row = model.layers * (length * content + lengths.selected * query)
    return Work(row, model.layers * 2 * length * width * inner)


def bilstm(model: BiLSTMConfig, lengths: Lengths) -> Work:
    """Returns the work from characters to words and of all LSTMs of both directions.

    Args:
        model: Shape of the backbone.
        lengths: Words of a row.
    """
    projected = model.projection_width
    cell = 2 * projected * 4 * model.cells + model.cells * projected
    return Work(lengths.input * (_characters(model.characters, projected) + 2 * model.layers * cell))


def _characters(model: CharacterCNNConfig, width: int) -> int:
    places = ((span, count, model.max_characters - span + 1) for span, count in model.filters)
    convolutions = sum(place * span * model.width * count for span, count, place in places)
    filters = sum(count for _, count in model.filters)
    return convolutions + model.highway_layers * 2 * filters * filters + filters * width


def _block(model: AnyTransformer, length: int) -> int:
    """One block, for each token."""
    queries, keys = _head_widths(model)
    attention = 2 * model.width * queries + 2 * model.width * keys + 2 * queries * length
    dense = 3 if model.feed_forward.gated else 2
    return attention + dense * model.width * model.inner_width + 2 * queries * _relative(model, length)


def _head_widths(model: AnyTransformer) -> tuple[int, int]:
    return model.attention.heads * model.head_width, model.key_value_heads * model.head_width


def _factorised(model: AnyTransformer) -> int:
    return model.embedding_width * model.width if model.embedding_width != model.width else 0


def _relative(model: AnyTransformer, length: int) -> int:
    """Distances that content attends to, and that attend to content."""
    return model.positions.distances(length)


def _distances(model: AnyTransformer, length: int) -> int:
    """Keys and queries of all distances, once for all rows."""
    queries, keys = _head_widths(model)
    return _relative(model, length) * model.width * (queries + keys)
