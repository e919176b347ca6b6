"""The families of encoder-decoders: T5 and BART."""

import functools
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.config import Field, activation
from firth.interop.hugging_face.decoder_families import untied_head
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.heads import FamilyHeads, not_ours, pooled_classifier
from firth.interop.hugging_face.rules import (
    Rules,
    blocks,
    cross_attention,
    feed_forward,
    heads_of,
    norm,
    same,
    self_attention,
)
from firth.interop.hugging_face.tensors import Tensors
from firth.recipes.models.stack import StackConfig
from firth.recipes.models.transformers import EncoderDecoderConfig
from firth.recipes.objectives.denoising import Denoising, SpanCorruption


def t5_backbone(model: EncoderDecoderConfig) -> Rules:
    """Yields the rules of T5 and T5 1.1."""
    yield same("shared.weight", "backbone/token_embedding/table")
    for name, stack in _stacks(model).items():
        block = functools.partial(_t5_block, is_decoder=name == "decoder")
        yield from blocks(f"{name}.block", f"backbone/{name}", block, stack)
        yield from norm(f"{name}.final_layer_norm", f"backbone/{name}/final_norm", biases=False)
        bias = f"{name}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        yield same(bias, f"backbone/{name}/positions/table")


def _stacks(model: EncoderDecoderConfig) -> dict[str, StackConfig]:
    return {"encoder": model.stack, "decoder": model.decoder_stack}


def _t5_block(stack: StackConfig, ours: str, is_decoder: bool) -> Rules:
    heads, last = heads_of(stack), 1
    parts = [f"layer.0.SelfAttention.{part}" for part in "qkvo"]
    yield from self_attention(parts, f"{ours}/attention", heads, biases=False)
    yield from norm("layer.0.layer_norm", f"{ours}/attention_norm", biases=False)
    if is_decoder:
        parts, last = [f"layer.1.EncDecAttention.{part}" for part in "qkvo"], 2
        yield from cross_attention(parts, f"{ours}/cross_attention", heads, biases=False)
        yield from norm("layer.1.layer_norm", f"{ours}/cross_attention_norm", biases=False)
    dense, gated = f"layer.{last}.DenseReluDense", stack.feed_forward.gated
    inner, gate = (f"{dense}.wi_1", f"{dense}.wi_0") if gated else (f"{dense}.wi", None)
    yield from feed_forward(inner, f"{dense}.wo", f"{ours}/feed_forward", gate, biases=False)
    yield from norm(f"layer.{last}.layer_norm", f"{ours}/feed_forward_norm", biases=False)


def bart_backbone(model: EncoderDecoderConfig) -> Rules:
    """Yields the rules of BART."""
    yield same("shared.weight", "backbone/token_embedding/table")
    for name, stack in _stacks(model).items():
        inputs = f"backbone/{name}_embeddings"
        yield same(f"{name}.embed_positions.weight", f"{inputs}/position/table")
        yield from norm(f"{name}.layernorm_embedding", f"{inputs}/norm")
        block = functools.partial(_bart_block, is_decoder=name == "decoder")
        yield from blocks(f"{name}.layers", f"backbone/{name}", block, stack)


def _bart_block(stack: StackConfig, ours: str, is_decoder: bool) -> Rules:
    heads, parts = heads_of(stack), ("q_proj", "k_proj", "v_proj", "out_proj")
    yield from self_attention([f"self_attn.{part}" for part in parts], f"{ours}/attention", heads)
    yield from norm("self_attn_layer_norm", f"{ours}/attention_norm")
    if is_decoder:
        there = [f"encoder_attn.{part}" for part in parts]
        yield from cross_attention(there, f"{ours}/cross_attention", heads)
        yield from norm("encoder_attn_layer_norm", f"{ours}/cross_attention_norm")
    yield from feed_forward("fc1", "fc2", f"{ours}/feed_forward")
    yield from norm("final_layer_norm", f"{ours}/feed_forward_norm")


_LM = ("language_model", ("lm",))


def _tables(table: str, prefix: str = "") -> dict[str, str]:
    """Returns the tensors that repeat the token table, by name."""
    names = (f"{prefix}encoder.embed_tokens.weight", f"{prefix}decoder.embed_tokens.weight", "lm_head.weight")
    return dict.fromkeys(names, table)


def _spread_t5(config: dict[str, Any]) -> dict[str, Any]:
    parts = str(config.get("feed_forward_proj", "relu")).split("-")
    if parts[:-1] not in ([], ["gated"]):
        raise InteropError(f"feed_forward_proj: {config['feed_forward_proj']!r} is not known")
    # T5 1.1's `gated-gelu` is the approximate one.
    name = "gelu_new" if parts == ["gated", "gelu"] else parts[-1]
    # Releases before 5 say by the tie whether the output is scaled, as it is in T5 alone.
    scaled = config.get("scale_decoder_outputs", config.get("tie_word_embeddings") is not False)
    return {
        "dense_act_fn": name,
        "is_gated_act": parts[0] == "gated",
        **config,
        # The tensors say it in the end.
        "tie_word_embeddings": scaled,
        "scale_decoder_outputs": scaled,
    }


def _gathered_t5(config: dict[str, Any]) -> dict[str, Any]:
    gated, name = config["is_gated_act"], config["dense_act_fn"]
    tied, scaled = config["tie_word_embeddings"], config.pop("scale_decoder_outputs")
    name = "gelu" if gated and name == "gelu_new" else name
    # Where one does not follow from the other.
    apart = {} if scaled == tied else {"scale_decoder_outputs": scaled}
    proj = f"gated-{name}" if gated else name
    return {**config, **apart, "feed_forward_proj": proj, "is_encoder_decoder": True}


def _t5_of_tensors(model: Any, tensors: Tensors) -> Any:
    """Returns a model whose output is tied unless there is a table of its own, as transformers ties it."""
    output, tables = "lm_head.weight", [each for each in _T5_TABLES if each in tensors]
    tied = output not in tensors or not tables or tensors.are_same(output, tables[0])
    if not tied and model.scaled_output:
        raise InteropError(
            f"scale_decoder_outputs: True cannot be expressed here next to {output}, a table of its own"
        )
    return model.model_copy(update={"tied_output": tied})


_T5_TABLES = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
T5 = Family(
    "t5",
    "T5Model",
    "",
    (
        Field("num_layers", "layers", 6),
        Field("num_decoder_layers", "decoder_layers"),
        Field("d_model", "width", 512),
        Field("num_heads", "attention.heads", 8),
        Field("d_kv", "attention.head_width", 64),
        Field("d_ff", "feed_forward.width", 2048),
        Field("is_gated_act", "feed_forward.gated"),
        activation("dense_act_fn", "relu"),
        Field("dropout_rate", "dropout", 0.1),
        Field("dropout_rate", "attention.dropout", 0.1),
        Field("dropout_rate", "feed_forward.dropout", 0.1),
        Field("dropout_rate", "output_dropout", 0.1),
        Field("layer_norm_epsilon", "norm.epsilon", 1e-6),
        Field("relative_attention_num_buckets", "positions.buckets", 32),
        Field("relative_attention_max_distance", "positions.max_distance", 128),
        Field("tie_word_embeddings", "tied_output", True),
        Field("scale_decoder_outputs", "scaled_output", True),
    ),
    {
        "kind": "encoder_decoder",
        "attention.scaled": False,
        "norm.kind": "rms_norm",
        "norm.placement": "pre",
        "positions.kind": "relative_buckets",
        "biases": False,
    },
    lambda names: SpanCorruption(),
    t5_backbone,
    (FamilyHeads("T5ForConditionalGeneration", *_LM, untied_head),),
    copies=_tables("shared.weight"),
    spread=_spread_t5,
    gathered=_gathered_t5,
    of_tensors=_t5_of_tensors,
    length_key="n_positions",
)


def _spread_bart(config: dict[str, Any]) -> dict[str, Any]:
    for key, default in (("attention_heads", 16), ("ffn_dim", 4096)):
        one, other = config.get(f"encoder_{key}", default), config.get(f"decoder_{key}", default)
        if one != other:
            raise InteropError(f"decoder_{key}: {other} differs from encoder_{key}: {one}")
    return {"decoder_layers": 12, **config}


def _gathered_bart(config: dict[str, Any]) -> dict[str, Any]:
    both = {f"decoder_{key}": config[f"encoder_{key}"] for key in ("attention_heads", "ffn_dim")}
    layers = {"decoder_layers": config.get("decoder_layers", config["encoder_layers"])}
    return {**config, **both, **layers, "is_encoder_decoder": True}


BART = Family(
    "bart",
    "BartModel",
    "model",
    (
        Field("encoder_layers", "layers", 12),
        Field("decoder_layers", "decoder_layers"),
        Field("d_model", "width", 1024),
        Field("encoder_attention_heads", "attention.heads", 16),
        Field("attention_dropout", "attention.dropout", 0.0),
        Field("encoder_ffn_dim", "feed_forward.width", 4096),
        activation("activation_function"),
        Field("activation_dropout", "feed_forward.dropout", 0.0),
        Field("dropout", "dropout", 0.1),
        Field("init_std", "initializer_stddev", 0.02),
        Field("max_position_embeddings", "positions.length", 1024),
        Field("tie_word_embeddings", "tied_output", True),
    ),
    {
        "kind": "encoder_decoder",
        "norm.epsilon": 1e-5,
        "positions.kind": "learned",
        "positions.unused": 2,
        "embeddings.norm": True,
    },
    lambda names: Denoising(),
    bart_backbone,
    (FamilyHeads("BartForConditionalGeneration", *_LM, untied_head),),
    {"scale_embedding": False},
    copies=_tables("model.shared.weight", "model."),
    zeros=("final_logits_bias",),
    spread=_spread_bart,
    gathered=_gathered_bart,
    task_heads=(
        pooled_classifier(
            "BartForSequenceClassification", "classification_head.dense", "classification_head.out_proj"
        ),
        not_ours(
            "BartForQuestionAnswering", "reads answers from a decoder, where heads here read an encoder"
        ),
    ),
)
