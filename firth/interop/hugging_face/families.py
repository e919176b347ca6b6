"""The families that are brought in and out, by the `model_type` of their configuration."""

from collections.abc import Callable, Collection
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face import decoders, encoder_decoders, encoders, two_streams
from firth.interop.hugging_face.config_fields import Field, activation
from firth.interop.hugging_face.family import Family
from firth.recipes.objectives.denoising import Denoising, SpanCorruption
from firth.recipes.objectives.language_models import CausalLM
from firth.recipes.objectives.masking import MaskedLM, ReplacedTokenDetection
from firth.recipes.objectives.permutation import PermutationLM

_BERT_FIELDS = (
    Field("num_hidden_layers", "layers", 12),
    Field("hidden_size", "width", 768),
    Field("num_attention_heads", "attention.heads", 12),
    Field("attention_probs_dropout_prob", "attention.dropout", 0.1),
    Field("intermediate_size", "feed_forward.width", 3072),
    activation("hidden_act"),
    Field("hidden_dropout_prob", "dropout", 0.1),
    Field("initializer_range", "initializer_stddev", 0.02),
    Field("layer_norm_eps", "norm.epsilon", 1e-12),
    Field("type_vocab_size", "embeddings.segments", 2),
)
_LENGTH = Field("max_position_embeddings", "positions.length", 512)
_ENCODER: dict[str, Any] = {"kind": "masked_transformer", "embeddings.norm": True}
_LEARNED = {**_ENCODER, "positions.kind": "learned"}
_ABSOLUTE = {"position_embedding_type": "absolute", "is_decoder": False}
_EMBEDDING_WIDTH = Field("embedding_size", "embeddings.width", 128)


def _after_unused(rows: int) -> int:
    # The first position is one after that of padding.
    return rows - 2


def _with_unused(length: int) -> int:
    return length + 2


def _pairs(name: str, with_pairs: MaskedLM) -> Callable[[Collection[str]], MaskedLM]:
    """Returns what says whether a checkpoint has a head for pairs, by the name of its tensor."""
    return lambda names: with_pairs if name in names else _masked_lm(names)


def _masked_lm(names: Collection[str]) -> MaskedLM:
    del names
    return MaskedLM(next_sentence=False)


BERT = Family(
    "bert",
    "bert",
    (*_BERT_FIELDS, _LENGTH),
    _LEARNED,
    _pairs("cls.seq_relationship.weight", MaskedLM(next_sentence=True)),
    encoders.bert_backbone,
    encoders.bert_heads,
    _ABSOLUTE,
    ("position_ids", "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"),
)
ROBERTA = Family(
    "roberta",
    "roberta",
    (
        *_BERT_FIELDS,
        Field("max_position_embeddings", "positions.length", 514, _after_unused, _with_unused),
    ),
    {**_LEARNED, "positions.unused": 2},
    _masked_lm,
    encoders.bert_backbone,
    encoders.roberta_heads,
    {**_ABSOLUTE, "pad_token_id": 1},
    ("position_ids", "lm_head.decoder.weight", "lm_head.decoder.bias"),
)
ALBERT = Family(
    "albert",
    "albert",
    (
        *_BERT_FIELDS,
        _LENGTH,
        _EMBEDDING_WIDTH,
        Field("num_hidden_groups", "share_layers.groups", 1),
        Field("inner_group_num", "share_layers.blocks", 1),
    ),
    _LEARNED,
    _pairs("sop_classifier.classifier.weight", MaskedLM(next_sentence=False, sentence_order=True)),
    encoders.albert_backbone,
    encoders.albert_heads,
    _ABSOLUTE,
    ("position_ids", "predictions.decoder.weight", "predictions.decoder.bias"),
    lambda config: _spread_albert(config),
    lambda config: _gathered_albert(config),
)
DEBERTA = Family(
    "deberta-v2",
    "deberta",
    (
        *_BERT_FIELDS,
        Field("position_buckets", "positions.buckets"),
        Field("max_relative_positions", "positions.max_distance"),
    ),
    {**_ENCODER, "positions.kind": "disentangled"},
    _masked_lm,
    encoders.deberta_backbone,
    encoders.bert_heads,
    {
        "relative_attention": True,
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
        "position_biased_input": False,
        "conv_kernel_size": 0,
    },
    ("position_ids", "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"),
    lambda config: _spread_deberta(config),
    lambda config: _gathered_deberta(config),
)
GPT2 = Family(
    "gpt2",
    "transformer",
    (
        Field("n_layer", "layers", 12),
        Field("n_embd", "width", 768),
        Field("n_head", "attention.heads", 12),
        Field("attn_pdrop", "attention.dropout", 0.1),
        Field("n_inner", "feed_forward.width"),
        activation("activation_function", "gelu_new"),
        Field("resid_pdrop", "dropout", 0.1),
        Field("initializer_range", "initializer_stddev", 0.02),
        Field("layer_norm_epsilon", "norm.epsilon", 1e-5),
        Field("n_positions", "positions.length", 1024),
        Field("tie_word_embeddings", "tied_output", True),
    ),
    {"kind": "causal_transformer", "norm.placement": "pre", "positions.kind": "learned"},
    lambda names: CausalLM(),
    decoders.gpt2_backbone,
    theirs_always={"scale_attn_by_inverse_layer_idx": False, "scale_attn_weights": True},
    unread=("attn.bias", "attn.masked_bias", "lm_head.weight"),
)


def _spread_albert(config: dict[str, Any]) -> dict[str, Any]:
    inner = config.get("inner_group_num") or 1
    return {**config, "num_hidden_layers": (config.get("num_hidden_layers") or 12) * inner}


def _gathered_albert(config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "num_hidden_layers": config["num_hidden_layers"] // config["inner_group_num"]}


def _spread_deberta(config: dict[str, Any]) -> dict[str, Any]:
    farthest = config.get("max_relative_positions", -1)
    if farthest < 1:
        farthest = config.get("max_position_embeddings", 512)
    buckets = config.get("position_buckets", -1)
    return {
        **config,
        "max_relative_positions": farthest,
        "position_buckets": buckets if buckets > 0 else None,
    }


def _gathered_deberta(config: dict[str, Any]) -> dict[str, Any]:
    farthest = config["max_relative_positions"]
    return {"pos_att_type": ["p2c", "c2p"], "max_position_embeddings": farthest, **config}


ELECTRA = Family(
    "electra",
    "electra",
    (*_BERT_FIELDS, _LENGTH, _EMBEDDING_WIDTH),
    _LEARNED,
    lambda names: ReplacedTokenDetection(),
    encoders.electra_backbone,
    encoders.electra_heads,
    _ABSOLUTE,
    ("position_ids",),
)
XLNET = Family(
    "xlnet",
    "transformer",
    (
        Field("n_layer", "layers", 24),
        Field("d_model", "width", 1024),
        Field("n_head", "attention.heads", 16),
        Field("d_inner", "feed_forward.width", 4096),
        activation("ff_activation"),
        Field("dropout", "dropout", 0.1),
        Field("initializer_range", "initializer_stddev", 0.02),
        Field("layer_norm_eps", "norm_epsilon", 1e-12),
    ),
    {"kind": "two_stream_transformer"},
    lambda names: PermutationLM(),
    two_streams.xlnet_backbone,
    two_streams.xlnet_heads,
    {"untie_r": True, "attn_type": "bi", "clamp_len": -1, "same_length": False},
    ("lm_loss.weight",),
)


def _spread_llama(config: dict[str, Any]) -> dict[str, Any]:
    """Transformers 5 keeps `rope_theta` and the scaling in `rope_parameters`, 4 in keys of their own."""
    rope = {**(config.get("rope_scaling") or {}), **(config.get("rope_parameters") or {})}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind not in ("default", "llama3"):
        raise InteropError(f"rope_parameters: rope_type: {kind!r} cannot be expressed here, 'llama3' can")
    theta = rope.get("rope_theta", config.get("rope_theta"))
    scaled = {f"rope_{key}": rope.get(key) for key in _SCALING} if kind == "llama3" else {}
    return {**config, "rope_theta": theta, **scaled}


def _gathered_llama(config: dict[str, Any]) -> dict[str, Any]:
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": config.pop("rope_theta")}
    scaled = {key: config.pop(f"rope_{key}") for key in _SCALING if f"rope_{key}" in config}
    if scaled:
        rope |= {"rope_type": "llama3", **scaled}
    return {**config, "rope_parameters": rope}


_SCALING = {
    "factor": "factor",
    "low_freq_factor": "low_frequency_factor",
    "high_freq_factor": "high_frequency_factor",
    "original_max_position_embeddings": "original_length",
}
LLAMA = Family(
    "llama",
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
        *(Field(f"rope_{theirs}", f"positions.scaling.{ours}") for theirs, ours in _SCALING.items()),
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
    decoders.llama_backbone,
    lambda model, goal: decoders.untied_head(model),
    {"attention_bias": False, "mlp_bias": False},
    ("rotary_emb.inv_freq",),
    _spread_llama,
    _gathered_llama,
)


def _spread_t5(config: dict[str, Any]) -> dict[str, Any]:
    gate, _, name = str(config.get("feed_forward_proj", "relu")).rpartition("-")
    # T5 1.1's `gated-gelu` is the approximate one.
    name = "gelu_new" if (gate, name) == ("gated", "gelu") else name
    tied = config.get("tie_word_embeddings", True)
    return {
        **config,
        "feed_forward_activation": name,
        "feed_forward_gated": gate == "gated",
        "tie_word_embeddings": tied,
        "scaled_output": tied,
    }


def _gathered_t5(config: dict[str, Any]) -> dict[str, Any]:
    gated, name = config.pop("feed_forward_gated"), config.pop("feed_forward_activation")
    config.pop("scaled_output")
    name = "gelu" if gated and name == "gelu_new" else name
    return {**config, "feed_forward_proj": f"gated-{name}" if gated else name, "is_encoder_decoder": True}


T5 = Family(
    "t5",
    "",
    (
        Field("num_layers", "layers", 6),
        Field("num_decoder_layers", "decoder_layers"),
        Field("d_model", "width", 512),
        Field("num_heads", "attention.heads", 8),
        Field("d_kv", "attention.head_width", 64),
        Field("d_ff", "feed_forward.width", 2048),
        Field("feed_forward_gated", "feed_forward.gated"),
        activation("feed_forward_activation", "relu"),
        Field("dropout_rate", "dropout", 0.1),
        Field("dropout_rate", "attention.dropout", 0.1),
        Field("dropout_rate", "feed_forward.dropout", 0.1),
        Field("dropout_rate", "output_dropout", 0.1),
        Field("layer_norm_epsilon", "norm.epsilon", 1e-6),
        Field("relative_attention_num_buckets", "positions.buckets", 32),
        Field("relative_attention_max_distance", "positions.max_distance", 128),
        Field("tie_word_embeddings", "tied_output", True),
        Field("scaled_output", "scaled_output", True),
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
    encoder_decoders.t5_backbone,
    lambda model, goal: decoders.untied_head(model),
    unread=("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"),
    spread=_spread_t5,
    gathered=_gathered_t5,
)


def _spread_bart(config: dict[str, Any]) -> dict[str, Any]:
    for key in ("attention_heads", "ffn_dim"):
        one, other = config.get(f"encoder_{key}"), config.get(f"decoder_{key}")
        if one != other:
            raise InteropError(f"decoder_{key}: {other} differs from encoder_{key}: {one}")
    return config


def _gathered_bart(config: dict[str, Any]) -> dict[str, Any]:
    both = {f"decoder_{key}": config[f"encoder_{key}"] for key in ("attention_heads", "ffn_dim")}
    layers = {"decoder_layers": config.get("decoder_layers", config["encoder_layers"])}
    return {**config, **both, **layers, "is_encoder_decoder": True}


BART = Family(
    "bart",
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
    ),
    {
        "kind": "encoder_decoder",
        "norm.epsilon": 1e-5,
        "positions.kind": "learned",
        "positions.unused": 2,
        "embeddings.norm": True,
    },
    lambda names: Denoising(),
    encoder_decoders.bart_backbone,
    theirs_always={"scale_embedding": False},
    unread=(
        "encoder.embed_tokens.weight",
        "decoder.embed_tokens.weight",
        "lm_head.weight",
        "final_logits_bias",
    ),
    spread=_spread_bart,
    gathered=_gathered_bart,
)
FAMILIES: dict[str, Family] = {
    each.model_type: each for each in (BERT, ROBERTA, ALBERT, ELECTRA, DEBERTA, XLNET, GPT2, LLAMA, T5, BART)
}
