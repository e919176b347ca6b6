"""The attention of a stack of blocks, and what it reads of positions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from firth.layers.attention.attention import Attention
from firth.layers.attention.disentangled_attention import DisentangledAttention
from firth.layers.positions.disentangled_positions import DisentangledPositions
from firth.layers.positions.relative_bucket_bias import RelativeBucketBias
from firth.layers.positions.rotary_positions import RotaryPositions

if TYPE_CHECKING:
    from firth.recipes.models.stack import StackConfig

# What a layer makes, once for all blocks, for their attention to read.
AnyPositions = RelativeBucketBias | RotaryPositions | DisentangledPositions


def build_attention(stack: "StackConfig", cross: bool = False, **start: Any) -> Attention:
    """Returns an attention layer of a block.

    The self-attention of disentangled positions has a class of its own, with neither a cache nor `cross`.
    """
    parts = stack.attention
    arguments = {
        "key_value_heads": parts.key_value_heads,
        "head_width": parts.head_width,
        "scaled": parts.scaled,
        "dropout": parts.dropout,
        "biases": stack.biases,
        "initializer_stddev": stack.initializer_stddev,
        "scaled_initializer": stack.scaled_initializer,
        **start,
    }
    if stack.positions.disentangled and not cross:
        return DisentangledAttention(stack.width, parts.heads, **arguments)
    epsilon = stack.norm.epsilon if parts.query_key_norm else None
    return Attention(stack.width, parts.heads, cross=cross, query_key_epsilon=epsilon, **arguments)


def build_positions(stack: "StackConfig", bidirectional: bool, **common: Any) -> AnyPositions | None:
    """Returns the layer that makes the positions which the attention of all blocks of a stack reads."""
    make = POSITIONS.get(stack.positions.kind)
    start = {"initializer_stddev": stack.initializer_stddev, "name": "positions", **common}
    return None if make is None else make(stack, bidirectional, start)


def _relative_buckets(stack: "StackConfig", bidirectional: bool, start: dict[str, Any]) -> RelativeBucketBias:
    positions: Any = stack.positions
    if stack.scaled_initializer:
        start = {**start, "initializer_stddev": stack.width**-0.5, "truncated": False}
    return RelativeBucketBias(
        stack.attention.heads, positions.buckets, positions.max_distance, bidirectional, **start
    )


def _disentangled(stack: "StackConfig", bidirectional: bool, start: dict[str, Any]) -> DisentangledPositions:
    positions: Any = stack.positions
    return DisentangledPositions(
        stack.width, positions.max_distance, positions.buckets, stack.norm.epsilon, stack.dropout, **start
    )


def _rotary(stack: "StackConfig", bidirectional: bool, start: dict[str, Any]) -> RotaryPositions:
    positions: Any = stack.positions
    return RotaryPositions(
        stack.head_width, positions.base, positions.scaling, dtype=start["dtype"], name=start["name"]
    )


# By `positions.kind`; the other kinds are added to the embeddings.
POSITIONS: dict[str, Callable[["StackConfig", bool, dict[str, Any]], AnyPositions]] = {
    "relative_buckets": _relative_buckets,
    "disentangled": _disentangled,
    "rotary": _rotary,
}
