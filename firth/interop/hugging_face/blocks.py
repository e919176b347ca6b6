"""Rules of the blocks that several families share."""

from collections.abc import Callable, Iterable
from typing import Any

from firth.interop.hugging_face.rules import (
    AttentionHeads,
    Rule,
    Rules,
    below,
    feed_forward,
    linear,
    norm,
    same,
    self_attention,
)
from firth.recipes.models.stack import BlocksConfig, StackConfig
from firth.recipes.models.transformers import MaskedTransformerConfig, TransformerConfig

Block = Callable[[Any, str], Iterable[Rule]]
BERT_ATTENTION = ("query", "key", "value")


def heads_of(stack: BlocksConfig) -> AttentionHeads:
    """Returns the heads of a stack's attention.

    Args:
        stack: Stack of blocks.
    """
    return AttentionHeads(stack.attention.heads, stack.key_value_heads, stack.head_width)


def blocks(theirs: str, ours: str, block: Block, stack: BlocksConfig, number: str = ".{}.") -> Rules:
    """Yields the rules of all blocks of a stack.

    Args:
        theirs: Name in front of the blocks' numbers.
        ours: Path of our stack.
        block: Function from a stack and a path of ours to the rules of one block, by names below it.
        stack: Stack of blocks.
        number: Number of a block after this name, with what separates it.
    """
    for index in range(stack.layers):
        yield from below(theirs + number.format(index), block(stack, f"{ours}/block_{index}"))


def grouped_blocks(theirs: str, ours: str, block: Block, model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of the blocks of ALBERT's groups, which are applied again and again.

    Args:
        theirs: Name in front of a block's tensors, with places for the numbers of the group and in it.
        ours: Path of our stack.
        block: Function as of `blocks`.
        model: Model of the recipe.
    """
    shared = model.share_layers
    groups, inner = (shared.groups, shared.blocks) if shared else (model.layers, 1)
    for index in range(groups * inner):
        own = block(model.stack, f"{ours}/block_{index}")
        yield from below(theirs.format(*divmod(index, inner)), own)


def bert_block(stack: StackConfig, ours: str, parts: Iterable[str] = BERT_ATTENTION) -> Rules:
    """Yields the rules of a block of BERT and its like.

    Args:
        stack: Stack of blocks.
        ours: Path of our block.
        parts: Names of the projections to queries, keys and values.
    """
    projections = [f"attention.self.{part}" for part in parts]
    yield from self_attention([*projections, "attention.output.dense"], f"{ours}/attention", heads_of(stack))
    yield from norm("attention.output.LayerNorm", f"{ours}/attention_norm")
    yield from feed_forward("intermediate.dense", "output.dense", f"{ours}/feed_forward")
    yield from norm("output.LayerNorm", f"{ours}/feed_forward_norm")


def bert_embeddings(theirs: str, model: TransformerConfig, tokens: str = "backbone") -> Rules:
    """Yields the rules of the embeddings of BERT and its like.

    Args:
        theirs: Name of torch's embeddings.
        model: Model with embeddings.
        tokens: Path of what has our token table.
    """
    ours = "backbone/embeddings"
    yield same(f"{theirs}.word_embeddings.weight", f"{tokens}/token_embedding/table")
    if model.positions.rows:
        yield same(f"{theirs}.position_embeddings.weight", f"{ours}/position/table")
    if model.embeddings.segments:
        yield same(f"{theirs}.token_type_embeddings.weight", f"{ours}/segment/table")
    yield from norm(f"{theirs}.LayerNorm", f"{ours}/norm")


def masked_lm_head(dense: str, head_norm: str, bias: str) -> Rules:
    """Yields the rules of a masked LM's head.

    Args:
        dense: Name of torch's dense layer.
        head_norm: Name of torch's norm.
        bias: Name of the bias of the logits.
    """
    ours = "heads/masked_lm_head"
    yield from linear(dense, f"{ours}/dense")
    yield from norm(head_norm, f"{ours}/norm")
    yield same(bias, f"{ours}/bias")
