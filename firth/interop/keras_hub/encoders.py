"""Rules of KerasHub's encoders: BERT, RoBERTa, DistilBERT, ALBERT, ELECTRA and DeBERTa-v3."""

import functools
from collections.abc import Callable, Sequence

import numpy as np

from firth.interop.hugging_face import rules
from firth.interop.hugging_face.encoders import RelativeAttentionNames, relative_attention
from firth.interop.hugging_face.rules import (
    Array,
    AttentionHeads,
    Rule,
    Rules,
    blocks,
    grouped_blocks,
    heads_of,
    regrouped,
    same,
    transposed,
)
from firth.recipes.goals.goal import Goal
from firth.recipes.models.stack import BlocksConfig, StackConfig
from firth.recipes.models.transformers import MaskedTransformerConfig
from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig

_EMBEDDINGS, _ENCODER = "backbone/embeddings", "backbone/encoder"
PROJECTIONS = ("query", "key", "value")
numbered = functools.partial(blocks, number="_{}/")
# Kernels are [inputs, outputs].
feed_forward = functools.partial(rules.feed_forward, kernels=(transposed, same), names=("/kernel", "/bias"))
_ATTENTION = RelativeAttentionNames(
    query="rel_attn/query/kernel",
    key="rel_attn/key/kernel",
    value="rel_attn/value/kernel",
    relative="rel_attn/encoding/kernel",
    output="rel_attn/attention_output/kernel",
    content_bias="content_attention_bias",
    position_bias="positional_attention_bias",
    segment_bias="segment_attention_bias",
    segments="segment_encoding",
)


def encoder_block(stack: StackConfig, ours: str) -> Rules:
    """Yields the rules of a block of KerasHub's `TransformerEncoder`."""
    yield from self_attention("self_attention_layer", f"{ours}/attention", heads_of(stack))
    yield from _after_attention(ours)


def _after_attention(ours: str) -> Rules:
    yield from norm("self_attention_layer_norm", f"{ours}/attention_norm")
    inner, outer = "feedforward_intermediate_dense", "feedforward_output_dense"
    yield from feed_forward(inner, outer, f"{ours}/feed_forward")
    yield from norm("feedforward_layer_norm", f"{ours}/feed_forward_norm")


def _tables(prefix: str, segments: bool) -> Rules:
    yield same(f"{prefix}token_embedding/embeddings", "backbone/token_embedding/table")
    yield same(f"{prefix}position_embedding/embeddings", f"{_EMBEDDINGS}/position/table")
    if segments:
        yield same("segment_embedding/embeddings", f"{_EMBEDDINGS}/segment/table")
    yield from norm("embeddings_layer_norm", f"{_EMBEDDINGS}/norm")


def _like_bert(prefix: str, segments: bool) -> Callable[[MaskedTransformerConfig], Rules]:
    """Returns the function from a model to its rules, with the tables below a prefix."""

    def rules(model: MaskedTransformerConfig) -> Rules:
        yield from _tables(prefix, segments)
        yield from numbered("transformer_layer", _ENCODER, encoder_block, model.stack)

    return rules


bert = _like_bert("", segments=True)
roberta = _like_bert("embeddings/", segments=False)
distil_bert = _like_bert("token_and_position_embedding/", segments=False)


def electra(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of ELECTRA's discriminator."""
    yield from bert(model)
    if model.embedding_width != model.width:
        yield from dense("embeddings_projection", "backbone/projection")


def albert(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of ALBERT, whose groups of blocks are applied again and again."""
    yield from _tables("", segments=True)
    yield from dense("embedding_projection", "backbone/projection")
    yield from grouped_blocks("group_{}_inner_layer_{}/", _ENCODER, encoder_block, model)


def deberta_v3(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of DeBERTa-v3."""
    yield same("token_embedding/embeddings", "backbone/token_embedding/table")
    yield from norm("embeddings_layer_norm", f"{_EMBEDDINGS}/norm")
    yield same("rel_embedding/rel_embedding", f"{_ENCODER}/positions/table")
    yield from norm("rel_embedding/rel_embeddings_layer_norm", f"{_ENCODER}/positions/norm")
    yield from numbered("disentangled_attention_encoder_layer", _ENCODER, _deberta_block, model.stack)


def _deberta_block(stack: StackConfig, ours: str) -> Rules:
    heads, there = heads_of(stack), "self_attention_layer"
    parts = [f"{there}/{part}" for part in PROJECTIONS]
    yield from joined(parts, f"{ours}/attention", [heads.queries] * 3, heads.width)
    # Its heads are joined before the output.
    yield from dense(f"{there}/attention_output", f"{ours}/attention/output")
    yield from _after_attention(ours)


def pooler(model: MaskedTransformerConfig, goal: Goal) -> Rules:
    """Yields the rules of the pooler, which is a part of KerasHub's backbone."""
    if goal.trains_pooler:
        yield from dense("pooled_dense", "heads/pooler/dense")


def masked_lm_head(model: MaskedTransformerConfig, goal: Goal) -> Rules:
    """Yields the rules of `MaskedLMHead`, where its fixed activation and epsilon are those of the model."""
    ours = "heads/masked_lm_head"
    yield from dense("mlm_head/intermediate_dense", f"{ours}/dense")
    yield from norm("mlm_head/intermediate_layer_norm", f"{ours}/norm")
    yield same("mlm_head/output_bias", f"{ours}/bias")


def xlnet(model: TwoStreamTransformerConfig) -> Rules:
    """Yields the rules of XLNet."""
    yield same("content_query_embedding/word_embedding/embeddings", "backbone/token_embedding/table")
    yield Rule(
        "backbone/mask_embedding/table",
        ("encoder_block_attn_mask_layer/mask_emb",),
        lambda tensor: tensor[0],
        lambda weight: (weight[None],),
    )
    yield from numbered("xlnet_encoder", "backbone/encoder", _block, model)


def _block(stack: BlocksConfig, ours: str) -> Rules:
    yield from relative_attention(_ATTENTION, stack, f"{ours}/attention")
    yield from norm("layer_norm_rel_attn", f"{ours}/attention_norm")
    inner, outer = "feedforward_intermediate_dense", "feedforward_output_dense"
    yield from feed_forward(inner, outer, f"{ours}/feed_forward")
    yield from norm("layer_norm_ff", f"{ours}/feed_forward_norm")


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
