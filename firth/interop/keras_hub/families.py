"""The families of KerasHub that are brought in and out, by the class of their backbone."""

from typing import Any

import keras

from firth.interop.errors import InteropError
from firth.interop.hugging_face.config import Field
from firth.interop.keras_hub import decoders, encoders
from firth.interop.keras_hub.encoders import xlnet
from firth.interop.keras_hub.family import PresetFamily
from firth.recipes.objectives.denoising import Denoising, SpanCorruption
from firth.recipes.objectives.language_models import CausalLM, PermutationLM
from firth.recipes.objectives.masking import MaskedLM, ReplacedTokenDetection

_NAMES = {"gelu": "gelu", "relu": "relu", "silu": "silu", "swish": "silu"}
_APPROXIMATE_ACTIVATIONS, _REGISTERED = "gelu_approximate", "keras_hub>gelu_approximate"


def _read_name(value: Any) -> str:
    if not isinstance(value, str) or value not in _NAMES:
        raise InteropError(f"the activation {value!r} is not known; known are {', '.join(_NAMES)}")
    return _NAMES[value]


def _write_name(name: str) -> str:
    if name not in _NAMES:
        raise InteropError(f"{name!r} is not known there; known are {', '.join(_NAMES)}")
    return name


def _read(value: Any) -> str:
    if callable(value) or isinstance(value, dict):
        # The function, or its serialized form.
        said = value if isinstance(value, dict) else keras.saving.serialize_keras_object(value)
        value = said.get("config")
        if value in (_REGISTERED, _REGISTERED.replace("_hub", "_nlp")):
            return _APPROXIMATE_ACTIVATIONS
    return _read_name(value)


def _write(name: str) -> Any:
    if name != _APPROXIMATE_ACTIVATIONS:
        return _write_name(name)
    # KerasHub registers the function, and exports it by no other public name.
    return keras.saving.get_registered_object(_REGISTERED)


# An activation that Keras knows by name, and one that may be KerasHub's approximate GELU, too.
_NAMED_ACTIVATION = Field("activation", "feed_forward.activation", None, _read_name, _write_name)
_ANY_ACTIVATION = Field("activation", "feed_forward.activation", None, _read, _write)
_SHAPE = (
    Field("num_layers", "layers"),
    Field("hidden_dim", "width"),
    Field("intermediate_dim", "feed_forward.width"),
    # One rate of theirs is two of ours; it is written from the second.
    Field("dropout", "attention.dropout", 0.1),
    Field("dropout", "dropout", 0.1),
)
_STACK = (*_SHAPE, Field("num_heads", "attention.heads"))
_LENGTH = Field("max_sequence_length", "positions.length")


def _at_least_one(segments: int) -> int:
    if segments < 1:
        raise InteropError(f"{segments} segments; at least one is needed")
    return segments


_SEGMENTED = (*_STACK, _LENGTH, Field("num_segments", "embeddings.segments", None, _at_least_one))
_EMBEDDING_WIDTH = Field("embedding_dim", "embeddings.width")
_ENCODER: dict[str, Any] = {
    "kind": "masked_transformer",
    "embeddings.norm": True,
    "positions.kind": "learned",
    "norm.epsilon": 1e-12,
}
_APPROXIMATE = {**_ENCODER, "feed_forward.activation": "gelu_approximate"}
_EXACT = {**_ENCODER, "feed_forward.activation": "gelu", "embeddings.segments": 0}
_MASKED_LM = MaskedLM(next_sentence=False)

BERT = PresetFamily(
    "BertBackbone",
    "BertTokenizer",
    _SEGMENTED,
    _APPROXIMATE,
    MaskedLM(next_sentence=True),
    encoders.bert,
    (encoders.pooler,),
)
ROBERTA = PresetFamily(
    "RobertaBackbone",
    "RobertaTokenizer",
    (*_STACK, _LENGTH),
    {**_EXACT, "norm.epsilon": 1e-5},
    _MASKED_LM,
    encoders.roberta,
    task="RobertaMaskedLM",
    task_head=encoders.masked_lm_head,
)
DISTIL_BERT = PresetFamily(
    "DistilBertBackbone", "DistilBertTokenizer", (*_STACK, _LENGTH), _EXACT, _MASKED_LM, encoders.distil_bert
)


def _spread_albert(config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "num_layers": config["num_layers"] * config.get("num_inner_repetitions", 1)}


def _gathered_albert(config: dict[str, Any]) -> dict[str, Any]:
    layers = config["num_layers"]
    inner, groups = config.get("num_inner_repetitions", 1), config.get("num_groups", 1)
    if layers // inner % groups:
        raise InteropError(f"share_layers.groups: {groups} does not divide {layers // inner} there")
    return {**config, "num_layers": layers // inner}


ALBERT = PresetFamily(
    "AlbertBackbone",
    "AlbertTokenizer",
    (
        *_SEGMENTED,
        _EMBEDDING_WIDTH,
        Field("num_groups", "share_layers.groups", 1),
        Field("num_inner_repetitions", "share_layers.blocks", 1),
    ),
    {**_APPROXIMATE, "embeddings.projected": True},
    MaskedLM(next_sentence=False, sentence_order=True),
    encoders.albert,
    (encoders.pooler,),
    spread=_spread_albert,
    gathered=_gathered_albert,
)
ELECTRA = PresetFamily(
    "ElectraBackbone",
    "ElectraTokenizer",
    (*_SEGMENTED, _EMBEDDING_WIDTH),
    _APPROXIMATE,
    ReplacedTokenDetection(),
    encoders.electra,
    vocabulary_key="vocab_size",
)
DEBERTA_V3 = PresetFamily(
    "DebertaV3Backbone",
    "DebertaV3Tokenizer",
    (
        *_STACK,
        Field("max_sequence_length", "positions.max_distance"),
        Field("bucket_size", "positions.buckets"),
    ),
    {
        "kind": "masked_transformer",
        "embeddings.norm": True,
        "embeddings.segments": 0,
        "positions.kind": "disentangled",
        "norm.epsilon": 1e-7,
        "feed_forward.activation": "gelu",
    },
    _MASKED_LM,
    encoders.deberta_v3,
)
XLNET = PresetFamily(
    "XLNetBackbone",
    "SentencePieceTokenizer",
    (*_STACK, _NAMED_ACTIVATION, Field("kernel_initializer_range", "initializer_stddev", 0.02)),
    {"kind": "two_stream_transformer", "norm_epsilon": 1e-12},
    PermutationLM(),
    xlnet,
    theirs_always={"bias_initializer": "zeros"},
)
GPT2 = PresetFamily(
    "GPT2Backbone",
    "GPT2Tokenizer",
    (*_STACK, _LENGTH),
    {
        "kind": "causal_transformer",
        "norm.placement": "pre",
        "norm.epsilon": 1e-5,
        "positions.kind": "learned",
        "feed_forward.activation": "gelu_approximate",
    },
    CausalLM(),
    decoders.gpt2,
)


def _whole_number(base: float) -> float:
    return int(base) if base == int(base) else base


_LLAMA = (
    *_SHAPE[:3],
    Field("num_query_heads", "attention.heads"),
    Field("num_key_value_heads", "attention.key_value_heads"),
    Field("dropout", "attention.dropout", 0.0),
    Field("layer_norm_epsilon", "norm.epsilon", 1e-6),
    Field("rope_max_wavelength", "positions.base", 10_000, float, _whole_number),
    Field("rope_frequency_adjustment_factor", "positions.scaling.factor"),
    Field("rope_low_freq_factor", "positions.scaling.low_frequency_factor"),
    Field("rope_high_freq_factor", "positions.scaling.high_frequency_factor"),
    Field("rope_pretraining_sequence_length", "positions.scaling.original_length"),
    # KerasHub reads the key, and does not write it.
    Field("tie_word_embeddings", "tied_output", False),
)


def _llama(backbone: str, tokenizer: str) -> PresetFamily:
    return PresetFamily(
        backbone,
        tokenizer,
        _LLAMA,
        {
            "kind": "causal_transformer",
            "norm.kind": "rms_norm",
            "norm.placement": "pre",
            "positions.kind": "rotary",
            "feed_forward.activation": "silu",
            "feed_forward.gated": True,
            "biases": False,
            "dropout": 0.0,
        },
        CausalLM(),
        decoders.llama,
        (decoders.output_table,),
        theirs_always={"rope_position_scaling_factor": 1.0},
    )


LLAMA, LLAMA_3 = _llama("LlamaBackbone", "LlamaTokenizer"), _llama("Llama3Backbone", "Llama3Tokenizer")
T5 = PresetFamily(
    "T5Backbone",
    "T5Tokenizer",
    (
        *_STACK,
        Field("dropout", "feed_forward.dropout", 0.1),
        Field("key_value_dim", "attention.head_width"),
        _ANY_ACTIVATION,
        Field("use_gated_activation", "feed_forward.gated", True),
        Field("layer_norm_epsilon", "norm.epsilon", 1e-6),
        Field("tie_embedding_weights", "scaled_output", True),
        Field("tie_embedding_weights", "tied_output", True),
    ),
    {
        "kind": "encoder_decoder",
        "attention.scaled": False,
        "norm.kind": "rms_norm",
        "norm.placement": "pre",
        "positions.kind": "relative_buckets",
        "positions.buckets": 32,
        "positions.max_distance": 128,
        "biases": False,
    },
    SpanCorruption(),
    decoders.t5,
    (decoders.output_table,),
)
BART = PresetFamily(
    "BartBackbone",
    "BartTokenizer",
    (*_STACK, _LENGTH),
    {
        "kind": "encoder_decoder",
        "norm.epsilon": 1e-5,
        "positions.kind": "learned",
        "embeddings.norm": True,
        "feed_forward.activation": "gelu",
    },
    Denoising(),
    decoders.bart,
)
FAMILIES: dict[str, PresetFamily] = {
    each.backbone: each
    for each in (
        BERT,
        ROBERTA,
        DISTIL_BERT,
        ALBERT,
        ELECTRA,
        DEBERTA_V3,
        XLNET,
        GPT2,
        LLAMA,
        LLAMA_3,
        T5,
        BART,
    )
}
