"""The families that CTranslate2 runs, each with the specification of its models."""

from collections.abc import Callable
from typing import Any

import numpy as np

from firth.interop.ctranslate2.specs import Specifier
from firth.interop.extras import import_extra

_EMBEDDINGS = "backbone/embeddings"
_ENCODER_EMBEDDINGS, _DECODER_EMBEDDINGS = "backbone/encoder_embeddings", "backbone/decoder_embeddings"


def _encoder(given: Specifier) -> Any:
    """Returns the specification of BERT and RoBERTa, with a pooler if there is one."""
    has_pooler = "heads/pooler/dense/kernel" in given.weights
    encoder = given.encoder(given.config.stack, _EMBEDDINGS)
    spec = given.library.TransformerEncoderModelSpec(encoder, pooling_layer=has_pooler)
    if has_pooler:
        given.filling.dense(spec.pooler_dense, "heads/pooler/dense")
    return spec


def _decoder(given: Specifier, **options: Any) -> Any:
    """Returns the specification of GPT-2."""
    decoder = given.decoder(given.config.stack, _EMBEDDINGS, with_encoder_attention=False, **options)
    return given.library.TransformerDecoderModelSpec(decoder)


def _rotary_decoder(given: Specifier) -> Any:
    """Returns the specification of Llama; its halves of heads are turned as ours."""
    positions = given.config.positions
    options = {"rotary_dim": 0, "rotary_interleave": False, "rotary_base": positions.base}
    if positions.scaling is None:
        return _decoder(given, **options)
    (library,) = import_extra("ctranslate2", "ctranslate2.specs.attention_spec")
    options |= {
        "rotary_scaling_type": library.RotaryScalingType.Llama3,
        "original_max_position_embeddings": positions.scaling.original_length,
    }
    spec = _decoder(given, **options)
    for layer in spec.decoder.layer:
        layer.self_attention.rotary_low_freq_factor = np.float32(positions.scaling.low_frequency_factor)
        layer.self_attention.rotary_high_freq_factor = np.float32(positions.scaling.high_frequency_factor)
        # The runtime reads it for this kind of scaling too, but the specification has no such attribute.
        vars(layer.self_attention)["rotary_scaling_factor"] = np.float32(positions.scaling.factor)
    return spec


def _encoder_decoder(given: Specifier, **options: Any) -> Any:
    """Returns the specification of BART."""
    return given.library.TransformerSpec(
        given.encoder(given.config.stack, _ENCODER_EMBEDDINGS, **options),
        given.decoder(given.config.decoder_stack, _DECODER_EMBEDDINGS, **options),
    )


def _relative_encoder_decoder(given: Specifier) -> Any:
    """Returns the specification of T5."""
    return _encoder_decoder(given, relative_attention_bias=True)


# By the `model_type` of Hugging Face's format: a title, and what makes a specification.
FAMILIES: dict[str, tuple[str, Callable[[Specifier], Any]]] = {
    "bert": ("BERT", _encoder),
    "roberta": ("RoBERTa", _encoder),
    "gpt2": ("GPT-2", _decoder),
    "llama": ("Llama", _rotary_decoder),
    "t5": ("T5", _relative_encoder_decoder),
    "bart": ("BART", _encoder_decoder),
}
