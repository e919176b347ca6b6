"""The families of decoders: GPT, GPT-2, Llama and Qwen 3."""

import dataclasses
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.config import Field, activation, read_activation, write_activation
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.heads import FamilyHeads, last_token_classifier, not_ours
from firth.interop.hugging_face.rules import (
    Rules,
    blocks,
    feed_forward,
    heads_of,
    norm,
    same,
    self_attention,
    transposed,
)
from firth.recipes.models.stack import StackConfig
from firth.recipes.models.transformers import CausalTransformerConfig, EncoderDecoderConfig
from firth.recipes.objectives.language_models import CausalLM

DECODER = "backbone/decoder"


def gpt2_backbone(model: CausalTransformerConfig) -> Rules:
    """Yields the rules of GPT-2, whose dense layers hold [inputs, outputs] as ours do."""
    yield same("wte.weight", "backbone/token_embedding/table")
    yield same("wpe.weight", "backbone/embeddings/position/table")
    yield from blocks("h", DECODER, _gpt2_block, model.stack)
    yield from norm("ln_f", f"{DECODER}/final_norm")


def gpt_backbone(model: CausalTransformerConfig) -> Rules:
    """Yields the rules of the first GPT, whose norms stand after each sum."""
    yield same("tokens_embed.weight", "backbone/token_embedding/table")
    yield same("positions_embed.weight", "backbone/embeddings/position/table")
    yield from blocks("h", DECODER, _gpt2_block, model.stack)


def _gpt2_block(stack: StackConfig, ours: str) -> Rules:
    for theirs, path in (("attn.c_attn", "attention"), ("attn.c_proj", "attention/output")):
        yield same(f"{theirs}.weight", f"{ours}/{path}/kernel")
        yield same(f"{theirs}.bias", f"{ours}/{path}/bias")
    yield from norm("ln_1", f"{ours}/attention_norm")
    # The first kernel of a feed-forward layer is [outputs, inputs] in ours.
    yield transposed("mlp.c_fc.weight", f"{ours}/feed_forward/inner_kernel")
    yield same("mlp.c_fc.bias", f"{ours}/feed_forward/inner_bias")
    yield same("mlp.c_proj.weight", f"{ours}/feed_forward/outer_kernel")
    yield same("mlp.c_proj.bias", f"{ours}/feed_forward/outer_bias")
    yield from norm("ln_2", f"{ours}/feed_forward_norm")


def llama_backbone(model: CausalTransformerConfig) -> Rules:
    """Yields the rules of Llama and Qwen 3."""
    yield same("embed_tokens.weight", "backbone/token_embedding/table")
    yield from blocks("layers", DECODER, _llama_block, model.stack)
    yield from norm("norm", f"{DECODER}/final_norm", biases=False)


def _llama_block(stack: StackConfig, ours: str) -> Rules:
    parts = [f"self_attn.{part}_proj" for part in "qkvo"]
    yield from self_attention(parts, f"{ours}/attention", heads_of(stack), biases=False)
    if stack.attention.query_key_norm:
        yield from norm("self_attn.q_norm", f"{ours}/attention/query_norm", biases=False)
        yield from norm("self_attn.k_norm", f"{ours}/attention/key_norm", biases=False)
    yield from norm("input_layernorm", f"{ours}/attention_norm", biases=False)
    inner, outer, gate = (f"mlp.{part}_proj" for part in ("up", "down", "gate"))
    yield from feed_forward(inner, outer, f"{ours}/feed_forward", gate, biases=False)
    yield from norm("post_attention_layernorm", f"{ours}/feed_forward_norm", biases=False)


def untied_head(model: CausalTransformerConfig | EncoderDecoderConfig) -> Rules:
    """Yields the rule of an output table of its own, if the model has one."""
    if not model.tied_output:
        yield same("lm_head.weight", "heads/table")


_LM = ("language_model", ("lm",))
_GPT_FIELDS = (
    Field("n_layer", "layers", 12),
    Field("n_embd", "width", 768),
    Field("n_head", "attention.heads", 12),
    Field("attn_pdrop", "attention.dropout", 0.1),
    Field("resid_pdrop", "dropout", 0.1),
    Field("initializer_range", "initializer_stddev", 0.02),
    Field("layer_norm_epsilon", "norm.epsilon", 1e-5),
)


def _read_afn(name: str) -> str:
    return "gelu_approximate" if name == "gelu" else read_activation(name)


def _write_afn(name: str) -> str:
    return "gelu" if name == "gelu_approximate" else write_activation(name)


def _gathered_gpt(config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "embd_pdrop": config["resid_pdrop"]}


_NO_START = "reads texts that begin with no token, where classifiers of decoders here begin them with one"
GPT2 = Family(
    "gpt2",
    "GPT2Model",
    "transformer",
    (
        *_GPT_FIELDS,
        Field("n_inner", "feed_forward.width"),
        activation("activation_function", "gelu_new"),
        Field("n_positions", "positions.length", 1024),
        Field("tie_word_embeddings", "tied_output", True),
    ),
    {"kind": "causal_transformer", "norm.placement": "pre", "positions.kind": "learned"},
    lambda names: CausalLM(),
    gpt2_backbone,
    (FamilyHeads("GPT2LMHeadModel", *_LM, untied_head),),
    {"scale_attn_by_inverse_layer_idx": False, "scale_attn_weights": True},
    ("attn.bias", "attn.masked_bias"),
    {"lm_head.weight": "transformer.wte.weight"},
    gathered=_gathered_gpt,
    task_heads=(not_ours("GPT2ForSequenceClassification", _NO_START),),
)
GPT = Family(
    "openai-gpt",
    "OpenAIGPTModel",
    "transformer",
    (
        *_GPT_FIELDS,
        # Theirs calls the approximate one so.
        Field("afn", "feed_forward.activation", "gelu", _read_afn, _write_afn),
        Field("n_positions", "positions.length", 512),
    ),
    {"kind": "causal_transformer", "positions.kind": "learned"},
    lambda names: CausalLM(),
    gpt_backbone,
    (FamilyHeads("OpenAIGPTLMHeadModel", *_LM),),
    {"tie_word_embeddings": True},
    ("attn.bias", "position_ids"),
    {"lm_head.weight": "transformer.tokens_embed.weight"},
    gathered=_gathered_gpt,
)


def _place(key: str) -> str:
    """Returns the key of a value of the scaling, next to the other keys of a configuration."""
    return f"rope_parameters.{key}"


def _spread_llama(config: dict[str, Any]) -> dict[str, Any]:
    """Transformers 5 keeps `rope_theta` and the scaling in `rope_parameters`, 4 in keys of their own.

    Where both are there, it takes what the older key says.
    """
    for key in ("rope_scaling", "rope_parameters"):
        if not isinstance(config.get(key) or {}, dict):
            raise InteropError(f"{key}: {config[key]!r} is not a mapping")
    said = "rope_scaling" if config.get("rope_scaling") else "rope_parameters"
    rope = config.get(said) or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind not in ("default", "llama3"):
        raise InteropError(f"{said}: rope_type: {kind!r} cannot be expressed here, 'llama3' can")
    missing = [key for key in _SCALING if rope.get(key) is None]
    if kind == "llama3" and missing:
        raise InteropError(f"{said}: {missing[0]}: required with rope_type: 'llama3'")
    theta = rope.get("rope_theta", config.get("rope_theta"))
    scaled = {_place(key): rope.get(key) for key in _SCALING} if kind == "llama3" else {}
    return {**config, "rope_theta": theta, **scaled}


def _gathered_llama(config: dict[str, Any]) -> dict[str, Any]:
    """Both transformers 5 and 4 read what is written."""
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": config["rope_theta"]}
    scaled = {key: config.pop(_place(key)) for key in _SCALING if _place(key) in config}
    if scaled:
        rope |= {"rope_type": "llama3", **scaled}
        config["rope_scaling"] = {"rope_type": "llama3", **scaled}
        # The length that it was stretched to is not in a recipe; this is what the factor says.
        longest = int(scaled["original_max_position_embeddings"] * scaled["factor"])
        config["max_position_embeddings"] = longest
    return {**config, "rope_parameters": rope}


_SCALING = {
    "factor": "factor",
    "low_freq_factor": "low_frequency_factor",
    "high_freq_factor": "high_frequency_factor",
    "original_max_position_embeddings": "original_length",
}
LLAMA = Family(
    "llama",
    "LlamaModel",
    "model",
    (
        Field("num_hidden_layers", "layers", 32),
        Field("hidden_size", "width", 4096),
        Field("num_attention_heads", "attention.heads", 32),
        Field("num_key_value_heads", "attention.key_value_heads"),
        Field("head_dim", "attention.head_width"),
        Field("attention_dropout", "attention.dropout", 0.0),
        Field("intermediate_size", "feed_forward.width", 11008),
        activation("hidden_act", "silu"),
        Field("initializer_range", "initializer_stddev", 0.02),
        Field("rms_norm_eps", "norm.epsilon", 1e-6),
        Field("rope_theta", "positions.base", 10_000.0, float),
        *(Field(_place(theirs), f"positions.scaling.{ours}") for theirs, ours in _SCALING.items()),
        Field("tie_word_embeddings", "tied_output", False),
    ),
    {
        "kind": "causal_transformer",
        "norm.kind": "rms_norm",
        "norm.placement": "pre",
        "positions.kind": "rotary",
        "feed_forward.gated": True,
        "biases": False,
        "dropout": 0.0,
    },
    lambda names: CausalLM(),
    llama_backbone,
    (FamilyHeads("LlamaForCausalLM", *_LM, untied_head),),
    {"attention_bias": False, "mlp_bias": False},
    ("rotary_emb.inv_freq",),
    {"lm_head.weight": "model.embed_tokens.weight"},
    spread=_spread_llama,
    gathered=_gathered_llama,
    task_heads=(last_token_classifier("LlamaForSequenceClassification"),),
    length_key="max_position_embeddings",
)


def _spread_qwen_3(config: dict[str, Any]) -> dict[str, Any]:
    if {*(config.get("layer_types") or ())} - {"full_attention"}:
        raise InteropError(
            f"layer_types: {config['layer_types']} cannot be expressed here, full_attention can"
        )
    return _spread_llama(config)


_QWEN_3_DEFAULTS = {"num_key_value_heads": 32, "head_dim": 128, "intermediate_size": 22016}
QWEN_3 = dataclasses.replace(
    LLAMA,
    model_type="qwen3",
    architecture="Qwen3Model",
    fields=[
        dataclasses.replace(field, default=_QWEN_3_DEFAULTS.get(field.theirs, field.default))
        for field in LLAMA.fields
    ],
    always={**LLAMA.always, "attention.query_key_norm": True},
    heads=(FamilyHeads("Qwen3ForCausalLM", *_LM, untied_head),),
    theirs_always={"attention_bias": False, "use_sliding_window": False},
    spread=_spread_qwen_3,
    task_heads=(not_ours("Qwen3ForSequenceClassification", _NO_START),),
)
