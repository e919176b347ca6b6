"""The shape of the model."""

from typing import Literal

import pydantic

from firth.recipes.base import Config
from firth.recipes.cleaning import Fraction


class Bert(Config):
    """A post-norm masked transformer with token, segment and position embeddings (Devlin et al. 2018).

    The vocabulary's size stands in the tokenizer's part of the recipe.

    Attributes:
        layers: Transformer blocks.
        width: Of the hidden states.
        heads: Attention heads of a block; they divide the width.
        feed_forward_width: Of the inner layer of a block; four times the width where it is not given.
        positions: Learned position embeddings, the longest row this model can read.
        segments: Learned segment embeddings.
        dropout: Of embeddings and of each sublayer's output.
        attention_dropout: Of attention probabilities.
        norm_epsilon: Added to the variance in each layer norm.
        initializer_stddev: Of the truncated normal that weights start from.
    """

    kind: Literal["bert"] = "bert"
    layers: int = pydantic.Field(default=12, ge=1)
    width: int = pydantic.Field(default=768, ge=1)
    heads: int = pydantic.Field(default=12, ge=1)
    feed_forward_width: int | None = pydantic.Field(default=None, ge=1)
    positions: int = pydantic.Field(default=512, ge=1)
    segments: int = pydantic.Field(default=2, ge=1)
    activation: Literal["gelu", "gelu_approximate", "relu"] = "gelu"
    dropout: Fraction = 0.1
    attention_dropout: Fraction = 0.1
    norm_epsilon: float = pydantic.Field(default=1e-12, gt=0)
    initializer_stddev: float = pydantic.Field(default=0.02, gt=0)

    @pydantic.model_validator(mode="after")
    def _heads_divide_width(self):
        if self.width % self.heads:
            raise ValueError(f"heads: {self.heads} does not divide width: {self.width}")
        return self

    @property
    def inner_width(self) -> int:
        """Width of the feed-forward layer."""
        return self.feed_forward_width or 4 * self.width
