"""XLNet's transformer, whose blocks have two streams."""

from typing import Literal

import pydantic

from firth.recipes.models.blocks import refuse_shared_keys
from firth.recipes.models.facts import ModelFacts
from firth.recipes.models.stack import BlocksConfig


class TwoStreamTransformerConfig(ModelFacts, BlocksConfig):
    """XLNet's encoder with a content stream and a query stream (Yang et al. 2019, section 2.3).

    Relative sinusoidal positions and relative segments are a part of its attention.

    Attributes:
        norm_epsilon: Number added to the variance in its post-norm layer norms.
        layers, width, attention, feed_forward, dropout, initializer_stddev: Values of the stack, as in
            `MaskedTransformerConfig`.
    """

    kind: Literal["two_stream_transformer"] = "two_stream_transformer"
    norm_epsilon: float = pydantic.Field(default=1e-12, gt=0)

    @pydantic.model_validator(mode="after")
    def _keys_are_not_shared(self) -> "TwoStreamTransformerConfig":
        refuse_shared_keys(self.attention, f"kind: {self.kind}")
        return self

    @property
    def longest(self) -> None:
        """There is no longest sequence."""
        return None
