"""Rules of the encoders: BERT, RoBERTa, DistilBERT, ALBERT, ELECTRA and DeBERTa."""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from firth.interop.hugging_face.rules import (
    Array,
    Rule,
    Rules,
    bert_block,
    bert_embeddings,
    blocks,
    feed_forward,
    grouped_blocks,
    heads_of,
    linear,
    masked_lm_head,
    norm,
    same,
    self_attention,
)
from firth.recipes.models.stack import BlocksConfig, StackConfig
from firth.recipes.models.transformers import MaskedTransformerConfig
from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig

ENCODER = "backbone/encoder"


def bert_backbone(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of BERT's encoder, by names below the base model."""
    yield from bert_embeddings("embeddings", model)
    yield from blocks("encoder.layer", ENCODER, bert_block, model.stack)


def _masked_lm(*theirs: str) -> Callable[[MaskedTransformerConfig], Rules]:
    """Returns the function from a model to the rules of its head of masked LM; see `masked_lm_head`."""
    return lambda model: masked_lm_head(*theirs)


_CLS = "cls.predictions"
bert_masked_lm = _masked_lm(f"{_CLS}.transform.dense", f"{_CLS}.transform.LayerNorm", f"{_CLS}.bias")
distilbert_masked_lm = _masked_lm("vocab_transform", "vocab_layer_norm", "vocab_projector.bias")
roberta_masked_lm = _masked_lm("lm_head.dense", "lm_head.layer_norm", "lm_head.bias")
albert_masked_lm = _masked_lm("predictions.dense", "predictions.LayerNorm", "predictions.bias")
# That of a generator.
_GENERATOR = "generator_predictions"
electra_masked_lm = _masked_lm(f"{_GENERATOR}.dense", f"{_GENERATOR}.LayerNorm", "generator_lm_head.bias")


def bert_pretraining(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of the heads of masked LM and of next sentence prediction."""
    yield from bert_masked_lm(model)
    yield from linear("bert.pooler.dense", "heads/pooler/dense")
    yield from linear("cls.seq_relationship", "heads/pair_head/dense")


def distilbert_backbone(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of DistilBERT's encoder."""
    yield from bert_embeddings("embeddings", model)
    yield from blocks("transformer.layer", ENCODER, _distilbert_block, model.stack)


def _distilbert_block(stack: StackConfig, ours: str) -> Rules:
    parts = [f"attention.{part}_lin" for part in ("q", "k", "v", "out")]
    yield from self_attention(parts, f"{ours}/attention", heads_of(stack))
    yield from norm("sa_layer_norm", f"{ours}/attention_norm")
    yield from feed_forward("ffn.lin1", "ffn.lin2", f"{ours}/feed_forward")
    yield from norm("output_layer_norm", f"{ours}/feed_forward_norm")


def roberta_backbone(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of RoBERTa's encoder, whose first rows of positions are never read."""
    rows = model.positions.rows

    def write(table: Array) -> tuple[Array, ...]:
        missing = max(rows - len(table), 0)
        return (np.pad(table, ((missing, 0), (0, 0)))[-rows:],)

    for rule in bert_backbone(model):
        is_table = rule.ours == "backbone/embeddings/position/table"
        yield dataclasses.replace(rule, write=write) if is_table else rule


def albert_backbone(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of ALBERT's encoder, whose groups of blocks are applied again and again."""
    yield from bert_embeddings("embeddings", model)
    yield from linear("encoder.embedding_hidden_mapping_in", "backbone/projection")
    theirs = "encoder.albert_layer_groups.{}.albert_layers.{}."
    yield from grouped_blocks(theirs, ENCODER, _albert_block, model)


def _albert_block(stack: StackConfig, ours: str) -> Rules:
    parts = [f"attention.{part}" for part in ("query", "key", "value", "dense")]
    yield from self_attention(parts, f"{ours}/attention", heads_of(stack))
    yield from norm("attention.LayerNorm", f"{ours}/attention_norm")
    yield from feed_forward("ffn", "ffn_output", f"{ours}/feed_forward")
    yield from norm("full_layer_layer_norm", f"{ours}/feed_forward_norm")


def albert_pretraining(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of the heads of masked LM and of sentence order."""
    yield from albert_masked_lm(model)
    yield from linear("albert.pooler", "heads/pooler/dense")
    yield from linear("sop_classifier.classifier", "heads/pair_head/dense")


def electra_backbone(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of ELECTRA's discriminator."""
    if model.embedding_width != model.width:
        yield from linear("embeddings_project", "backbone/projection")
    yield from bert_backbone(model)


def deberta_backbone(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of DeBERTa's encoder."""

    def block(stack: StackConfig, ours: str) -> Rules:
        return bert_block(stack, ours, ("query_proj", "key_proj", "value_proj"))

    yield same("embeddings.word_embeddings.weight", "backbone/token_embedding/table")
    yield from norm("embeddings.LayerNorm", "backbone/embeddings/norm")
    yield from blocks("encoder.layer", ENCODER, block, model.stack)
    yield same("encoder.rel_embeddings.weight", f"{ENCODER}/positions/table")
    yield from norm("encoder.LayerNorm", f"{ENCODER}/positions/norm")


def electra_detection(model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of the discriminator's decision.

    A checkpoint of the generator is a model of its own, so that its weights stand in another folder.
    """
    yield from linear("discriminator_predictions.dense", "heads/dense")
    yield from linear("discriminator_predictions.dense_prediction", "heads/decision")


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
