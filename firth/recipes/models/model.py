"""All models, one type for each family; variants of a family differ in values."""

from typing import Annotated

import pydantic

from firth.recipes.models.bilstm import BiLSTMConfig, CharacterCNNConfig
from firth.recipes.models.transformers import (
    AnyTransformer,
    CausalTransformerConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
    TransformerConfig,
)
from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig

__all__ = [
    "AnyModel",
    "BiLSTMConfig",
    "CausalTransformerConfig",
    "CharacterCNNConfig",
    "EncoderDecoderConfig",
    "MaskedTransformerConfig",
    "TransformerConfig",
    "TwoStreamTransformerConfig",
]

AnyModel = Annotated[
    AnyTransformer | TwoStreamTransformerConfig | BiLSTMConfig, pydantic.Field(discriminator="kind")
]
