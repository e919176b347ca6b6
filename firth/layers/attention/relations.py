"""What attention reads of positions, by the kind that a recipe names."""

from firth.layers.attention.attention import Attention
from firth.layers.attention.disentangled_attention import DisentangledAttention
from firth.layers.positions.disentangled_positions import DisentangledPositions
from firth.layers.positions.relative_bucket_bias import RelativeBucketBias
from firth.layers.positions.rotary_positions import RotaryPositions


def build_attention(width, positions, **arguments):
    """Returns the self-attention layer that belongs to a kind of positions.

    It has the call arguments `hidden`, `bias`, `positions`, `causal` and `training`; `Attention` also has
    those of a cache.

    Args:
        width: Of the hidden states.
        positions: None or a dict, the recipe's `positions`.
        **arguments: As `Attention` takes them.
    """
    is_disentangled = positions and positions["kind"] == "disentangled"
    return (DisentangledAttention if is_disentangled else Attention)(width, **arguments)


def build_relation(positions, attention, bidirectional, epsilon, dropout, scaled_initializer=False, **start):
    """Returns the layer that makes, once for all blocks of a stack, what their attention reads of positions.

    Args:
        positions: None or a dict, the recipe's `positions`.
        attention: The attention layer of the first block.
        bidirectional: Whether tokens also see those after them.
        epsilon: Of a norm over a table of positions.
        dropout: Of such a table.
        scaled_initializer: Start a bias of distances from a normal of one over the root of the width.
        **start: `initializer_stddev`, `seed` and `dtype`.

    Returns:
        None where attention reads nothing of positions; `RelativeBucketBias`, whose output is added to the
        scores; or `RotaryPositions` or `DisentangledPositions`, whose output goes to each attention as
        `positions`.
    """
    values = dict(positions or {})
    kind = values.pop("kind", None)
    start["name"] = "positions"
    if kind == "relative_buckets":
        if scaled_initializer:
            start |= {"initializer_stddev": attention.width**-0.5, "truncated": False}
        return RelativeBucketBias(attention.heads, bidirectional=bidirectional, **values, **start)
    if kind == "disentangled":
        return DisentangledPositions(attention.width, epsilon=epsilon, dropout=dropout, **values, **start)
    if kind == "rotary":
        return RotaryPositions(attention.head_width, **values, dtype=start["dtype"], name="positions")
    return None
