"""Rules of KerasHub's layers, whose kernels hold heads on axes of their own."""

import functools
from collections.abc import Sequence

import numpy as np

from firth.interop.hugging_face import rules
from firth.interop.hugging_face.rules import (
    Array,
    AttentionHeads,
    Rule,
    Rules,
    blocks,
    regrouped,
    same,
    transposed,
)

PROJECTIONS = ("query", "key", "value")
numbered = functools.partial(blocks, number="_{}/")
# Kernels are [inputs, outputs].
feed_forward = functools.partial(rules.feed_forward, kernels=(transposed, same), names=("/kernel", "/bias"))


def dense(theirs: str, ours: str, biases: bool = True) -> Rules:
    """Yields the rules of a dense layer, which holds [inputs, outputs] in both."""
    yield same(f"{theirs}/kernel", f"{ours}/kernel")
    if biases:
        yield same(f"{theirs}/bias", f"{ours}/bias")


def norm(theirs: str, ours: str) -> Rules:
    """Yields the rules of a layer norm."""
    yield same(f"{theirs}/gamma", f"{ours}/gamma")
    yield same(f"{theirs}/beta", f"{ours}/beta")


def joined(
    theirs: Sequence[str], ours: str, heads: Sequence[int], width: int, biases: bool = True, prefix: str = ""
) -> Rules:
    """Yields the rules of projections to heads that are one layer in ours."""
    ends = np.cumsum([each * width for each in heads])[:-1].tolist()

    def gather(*tensors: Array, inputs: int) -> Array:
        flat = [tensor.reshape(*tensor.shape[:inputs], -1) for tensor in tensors]
        return np.concatenate(flat, axis=-1)

    def split(weight: Array) -> tuple[Array, ...]:
        parts = np.split(weight, ends, axis=-1)
        return tuple(part.reshape(*part.shape[:-1], each, width) for part, each in zip(parts, heads))

    for name, inputs in (("kernel", 1), ("bias", 0)) if biases else (("kernel", 1),):
        yield Rule(
            f"{ours}/{prefix}{name}",
            tuple(f"{each}/{name}" for each in theirs),
            lambda *tensors, inputs=inputs: gather(*tensors, inputs=inputs),
            split,
        )


def side_by_side(theirs: Sequence[str], ours: str) -> Rule:
    """Returns the rule of kernels of one shape that are one kernel in ours; none has axes of heads."""
    return Rule(
        ours,
        tuple(f"{each}/kernel" for each in theirs),
        lambda *tensors: np.concatenate(tensors, axis=1),
        lambda weight: tuple(np.split(weight, len(theirs), axis=1)),
    )


def output(theirs: str, ours: str, heads: AttentionHeads, biases: bool = True) -> Rules:
    """Yields the rules of the projection of an attention's heads to its output."""
    yield Rule(
        f"{ours}/kernel",
        (f"{theirs}/kernel",),
        lambda tensor: tensor.reshape(-1, tensor.shape[-1]),
        lambda weight: (weight.reshape(heads.queries, heads.width, -1),),
    )
    if biases:
        yield same(f"{theirs}/bias", f"{ours}/bias")


def self_attention(theirs: str, ours: str, heads: AttentionHeads, biases: bool = True) -> Rules:
    """Yields the rules of a self-attention; ours joins queries, keys and values."""
    counts = (heads.queries, heads.keys, heads.keys)
    parts = [f"{theirs}/{part}" for part in PROJECTIONS]
    yield from regrouped(
        [
            *joined(parts, ours, counts, heads.width, biases),
            *output(f"{theirs}/attention_output", f"{ours}/output", heads, biases),
        ],
        ours,
        heads,
    )


def cross_attention(theirs: str, ours: str, heads: AttentionHeads) -> Rules:
    """Yields the rules of an attention to an encoder; ours joins keys and values."""
    query, key, value = (f"{theirs}/{part}" for part in PROJECTIONS)
    yield from joined([query], ours, [heads.queries], heads.width, prefix="query_")
    yield from joined([key, value], ours, [heads.keys, heads.keys], heads.width)
    yield from output(f"{theirs}/attention_output", f"{ours}/output", heads)
