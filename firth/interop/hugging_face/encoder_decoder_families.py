"""The families of encoder-decoders: T5 and BART."""

from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face import decoders, encoder_decoders
from firth.interop.hugging_face.config_fields import Field, activation
from firth.interop.hugging_face.family import Family, FamilyHeads
from firth.recipes.objectives.denoising import Denoising, SpanCorruption

_LM = ("language_model", ("lm",))


def _tables(table: str, prefix: str = "") -> dict[str, str]:
    """Returns what repeats the token table."""
    names = (f"{prefix}encoder.embed_tokens.weight", f"{prefix}decoder.embed_tokens.weight", "lm_head.weight")
    return dict.fromkeys(names, table)


def _spread_t5(config: dict[str, Any]) -> dict[str, Any]:
    gate, _, name = str(config.get("feed_forward_proj", "relu")).rpartition("-")
    # T5 1.1's `gated-gelu` is the approximate one.
    name = "gelu_new" if (gate, name) == ("gated", "gelu") else name
    # Transformers 5 saves all as tied, and says whether the output is scaled, as it is in T5 alone.
    tied = config.get("scale_decoder_outputs", config.get("tie_word_embeddings", True) is not False)
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
    "T5Model",
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
    (FamilyHeads("T5ForConditionalGeneration", *_LM, decoders.untied_head),),
    copies=_tables("shared.weight"),
    spread=_spread_t5,
    gathered=_gathered_t5,
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
    encoder_decoders.bart_backbone,
    (FamilyHeads("BartForConditionalGeneration", *_LM, decoders.untied_head),),
    {"scale_embedding": False},
    copies=_tables("model.shared.weight", "model."),
    zeros=("final_logits_bias",),
    spread=_spread_bart,
    gathered=_gathered_bart,
)
