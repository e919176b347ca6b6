"""Rules of XLNet."""

from typing import NamedTuple

import numpy as np

from firth.interop.hugging_face.blocks import blocks
from firth.interop.hugging_face.rules import Array, Rule, Rules, feed_forward, norm, same
from firth.recipes.models.stack import BlocksConfig
from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig


def xlnet_backbone(model: TwoStreamTransformerConfig) -> Rules:
    """Yields the rules of XLNet."""
    yield same("word_embedding.weight", "backbone/token_embedding/table")
    yield Rule(
        "backbone/mask_embedding/table",
        ("mask_emb",),
        lambda tensor: tensor[0],
        lambda weight: (weight[np.newaxis],),
    )
    yield from blocks("layer", "backbone/encoder", _block, model)


def _block(stack: BlocksConfig, ours: str) -> Rules:
    yield from relative_attention(_NAMES, stack, f"{ours}/attention")
    yield from norm("rel_attn.layer_norm", f"{ours}/attention_norm")
    yield from feed_forward("ff.layer_1", "ff.layer_2", f"{ours}/feed_forward")
    yield from norm("ff.layer_norm", f"{ours}/feed_forward_norm")


class RelativeAttentionNames(NamedTuple):
    """Names of the tensors of an attention with two streams."""

    query: str
    key: str
    value: str
    relative: str
    output: str
    content_bias: str
    position_bias: str
    segment_bias: str
    segments: str


_NAMES = RelativeAttentionNames(
    *(
        f"rel_attn.{name}"
        for name in ("q", "k", "v", "r", "o", "r_w_bias", "r_r_bias", "r_s_bias", "seg_embed")
    )
)


def relative_attention(names: RelativeAttentionNames, stack: BlocksConfig, ours: str) -> Rules:
    """Yields the rules of an attention with two streams; theirs have an axis of heads, ours join heads.

    Args:
        names: Names of the tensors; kernels are [width, heads, head width], the output's too.
    """
    heads = (stack.attention.heads, stack.head_width)

    def split(weight: Array) -> Array:
        return weight.reshape(stack.width, *heads)

    def flat(tensor: Array) -> Array:
        return tensor.reshape(stack.width, -1)

    yield Rule(f"{ours}/query_kernel", (names.query,), flat, lambda weight: (split(weight),))
    yield Rule(
        f"{ours}/kernel",
        (names.key, names.value),
        lambda key, value: np.concatenate([flat(key), flat(value)], axis=1),
        lambda weight: tuple(split(part) for part in np.split(weight, 2, axis=1)),
    )
    yield Rule(f"{ours}/relative_kernel", (names.relative,), flat, lambda weight: (split(weight),))
    yield Rule(
        f"{ours}/output/kernel",
        (names.output,),
        lambda tensor: flat(tensor).T,
        lambda weight: (split(weight.T),),
    )
    for path in ("content_bias", "position_bias", "segment_bias"):
        yield Rule(
            f"{ours}/{path}",
            (getattr(names, path),),
            lambda tensor: tensor[:, np.newaxis],
            lambda weight: (weight[:, 0],),
        )
    yield Rule(
        f"{ours}/segments",
        (names.segments,),
        lambda tensor: tensor[:, :, np.newaxis],
        lambda weight: (weight[:, :, 0],),
    )


def xlnet_lm(model: TwoStreamTransformerConfig) -> Rules:
    """Yields the rule of the bias of the logits."""
    yield same("lm_loss.bias", "heads/bias")
