"""What attention reads of positions, by the kind that a recipe names."""

from firth.layers.attention import Attention
from firth.layers.relative_bucket_bias import RelativeBucketBias
from firth.layers.rotary_positions import RotaryPositions


def build_attention(width, positions, **arguments):
    """Returns the self-attention layer that belongs to a kind of positions.

    It has the call arguments `hidden`, `bias`, `positions` and `training`, and `Attention` those of a cache.

    Args:
        width: Of the hidden states.
        positions: None or a dict, the recipe's `positions`.
        **arguments: As `Attention` takes them.
    """
    return Attention(width, **arguments)


def build_relation(positions, attention, bidirectional, initializer_stddev, seed, dtype):
    """Returns the layer that makes, once for all blocks of a stack, what their attention reads of positions.

    Args:
        positions: None or a dict, the recipe's `positions`.
        attention: A dict of `Attention`'s arguments, with `head_width`.
        bidirectional: Whether tokens also see those behind them.
        initializer_stddev: Of the truncated normal that tables start from.
        seed: A `keras.random.SeedGenerator` to share.
        dtype: A Keras dtype or policy.

    Returns:
        None where attention reads nothing of positions; `RelativeBucketBias`, whose output is added to the
        scores; or `RotaryPositions`, whose output goes to each attention as `positions`.
    """
    values = dict(positions or {})
    kind = values.pop("kind", None)
    start = {"dtype": dtype, "name": "positions"}
    if kind == "relative_buckets":
        drawn = {"initializer_stddev": initializer_stddev, "seed": seed, **start}
        return RelativeBucketBias(attention["heads"], bidirectional=bidirectional, **values, **drawn)
    if kind == "rotary":
        return RotaryPositions(attention["head_width"], **values, **start)
    return None
