"""Rules of XLNet."""

import numpy as np

from firth.interop.hugging_face.blocks import blocks
from firth.interop.hugging_face.rules import Array, Rule, Rules, feed_forward, norm, same
from firth.recipes.goals.goal import Goal
from firth.recipes.models.stack import BlocksConfig
from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig


def xlnet_backbone(model: TwoStreamTransformerConfig) -> Rules:
    """Yields the rules of XLNet.

    Args:
        model: Model of the recipe.
    """
    yield same("word_embedding.weight", "backbone/token_embedding/table")
    yield Rule(
        "backbone/mask_embedding/table",
        ("mask_emb",),
        lambda tensor: tensor[0],
        lambda weight: (weight[np.newaxis],),
    )
    yield from blocks("layer", "backbone/encoder", _block, model)


def _block(stack: BlocksConfig, ours: str) -> Rules:
    here, there = f"{ours}/attention", "rel_attn"
    heads = (stack.attention.heads, stack.head_width)

    def split(weight: Array) -> Array:
        return weight.reshape(stack.width, *heads)

    def flat(tensor: Array) -> Array:
        return tensor.reshape(stack.width, -1)

    # Theirs are [width, heads, head width], the output's too; ours join heads.
    yield Rule(f"{here}/query_kernel", (f"{there}.q",), flat, lambda weight: (split(weight),))
    yield Rule(
        f"{here}/kernel",
        (f"{there}.k", f"{there}.v"),
        lambda key, value: np.concatenate([flat(key), flat(value)], axis=1),
        lambda weight: tuple(split(part) for part in np.split(weight, 2, axis=1)),
    )
    yield Rule(f"{here}/relative_kernel", (f"{there}.r",), flat, lambda weight: (split(weight),))
    yield Rule(
        f"{here}/output/kernel",
        (f"{there}.o",),
        lambda tensor: flat(tensor).T,
        lambda weight: (split(weight.T),),
    )
    for path, name in (
        ("content_bias", "r_w_bias"),
        ("position_bias", "r_r_bias"),
        ("segment_bias", "r_s_bias"),
    ):
        yield Rule(
            f"{here}/{path}",
            (f"{there}.{name}",),
            lambda tensor: tensor[:, np.newaxis],
            lambda weight: (weight[:, 0],),
        )
    yield Rule(
        f"{here}/segments",
        (f"{there}.seg_embed",),
        lambda tensor: tensor[:, :, np.newaxis],
        lambda weight: (weight[:, :, 0],),
    )
    yield from norm(f"{there}.layer_norm", f"{ours}/attention_norm")
    yield from feed_forward("ff.layer_1", "ff.layer_2", f"{ours}/feed_forward")
    yield from norm("ff.layer_norm", f"{ours}/feed_forward_norm")


def xlnet_heads(model: TwoStreamTransformerConfig, goal: Goal) -> Rules:
    """Yields the rule of the bias of the logits.

    Args:
        model: Model of the recipe.
        goal: Goal of the recipe.
    """
    del model, goal
    yield same("lm_loss.bias", "heads/bias")
