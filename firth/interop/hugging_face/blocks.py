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
    """Returns the heads of a stack's attention."""
    return AttentionHeads(stack.attention.heads, stack.key_value_heads, stack.head_width)


def blocks(theirs: str, ours: str, block: Block, stack: BlocksConfig, number: str = ".{}.") -> Rules:
    """Yields the rules of all blocks of a stack."""
    for index in range(stack.layers):
        yield from below(theirs + number.format(index), block(stack, f"{ours}/block_{index}"))


def grouped_blocks(theirs: str, ours: str, block: Block, model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of the blocks of ALBERT's groups, which are applied again and again."""
    shared = model.share_layers
    groups, inner = (shared.groups, shared.blocks) if shared else (model.layers, 1)
    for index in range(groups * inner):
        own = block(model.stack, f"{ours}/block_{index}")
        yield from below(theirs.format(*divmod(index, inner)), own)


def bert_block(stack: StackConfig, ours: str, parts: Iterable[str] = BERT_ATTENTION) -> Rules:
    """Yields the rules of a block of BERT and its like."""
    projections = [f"attention.self.{part}" for part in parts]
    yield from self_attention([*projections, "attention.output.dense"], f"{ours}/attention", heads_of(stack))
    yield from norm("attention.output.LayerNorm", f"{ours}/attention_norm")
    yield from feed_forward("intermediate.dense", "output.dense", f"{ours}/feed_forward")
    yield from norm("output.LayerNorm", f"{ours}/feed_forward_norm")


def bert_embeddings(theirs: str, model: TransformerConfig, tokens: str = "backbone") -> Rules:
    """Yields the rules of the embeddings of BERT and its like."""
    ours = "backbone/embeddings"
    yield same(f"{theirs}.word_embeddings.weight", f"{tokens}/token_embedding/table")
    if model.positions.rows:
        yield same(f"{theirs}.position_embeddings.weight", f"{ours}/position/table")
    if model.embeddings.segments:
        yield same(f"{theirs}.token_type_embeddings.weight", f"{ours}/segment/table")
    yield from norm(f"{theirs}.LayerNorm", f"{ours}/norm")


def masked_lm_head(dense: str, head_norm: str, bias: str) -> Rules:
    """Yields the rules of a masked LM's head."""
    ours = "heads/masked_lm_head"
    yield from linear(dense, f"{ours}/dense")
    yield from norm(head_norm, f"{ours}/norm")
    yield same(bias, f"{ours}/bias")
