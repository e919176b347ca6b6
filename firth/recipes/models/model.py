"""All models, one type for each family; variants of a family differ in values."""

from typing import Annotated, get_args

import pydantic

from firth.recipes.models.bilstm import BiLSTMConfig
from firth.recipes.models.transformers import AnyTransformer
from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig

AnyModel = Annotated[
    AnyTransformer | TwoStreamTransformerConfig | BiLSTMConfig, pydantic.Field(discriminator="kind")
]


def model_kinds(architecture: str) -> list[str]:
    """Returns the kinds of model of an architecture.

    Example:

    >>> model_kinds("encoder")
    ['masked_transformer']
    """
    types = get_args(get_args(AnyModel)[0])
    return [each.model_fields["kind"].default for each in types if each.architecture == architecture]
