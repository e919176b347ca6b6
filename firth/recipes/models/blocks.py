"""The parts of a transformer block, as small nested choices."""

from typing import Annotated, Literal

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE, Config
from firth.recipes.corpus.cleaning import Fraction

Count = Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)]
Layers = Annotated[int, pydantic.Field(ge=1, le=10_000)]
Activation = Literal["gelu", "gelu_approximate", "relu", "silu"]


class AttentionConfig(Config):
    """Multi-head attention (Vaswani et al. 2017, section 3.2).

    Attributes:
        heads: Query heads; they divide the width where `head_width` is not given.
        key_value_heads: Heads of keys and values, each shared by a group of query heads (Ainslie et al. 2023,
            "GQA"); as many as `heads` where it is not given.
        head_width: Of a head; width over heads where it is not given.
        scaled: Divide scores by the root of the head's width, which T5 does not.
        dropout: Of attention probabilities.
    """

    heads: Count = 12
    key_value_heads: Count | None = None
    head_width: Count | None = None
    scaled: bool = True
    dropout: Fraction = 0.1

    @pydantic.model_validator(mode="after")
    def _groups_are_even(self):
        if self.key_value_heads and self.heads % self.key_value_heads:
            raise ValueError(f"key_value_heads: {self.key_value_heads} does not divide heads: {self.heads}")
        return self


class FeedForwardConfig(Config):
    """The position-wise layer of a block (Vaswani et al. 2017, section 3.3).

    Attributes:
        width: Of the layer between; four times the model's width where it is not given.
        activation: Exact GELU, its approximation by tanh, ReLU, or SiLU (also known as Swish).
        gated: Multiply the activation with a second projection (Shazeer 2020, "GLU Variants"): SwiGLU is
            `silu` gated, T5 1.1's GEGLU is `gelu_approximate` gated.
        dropout: Of the layer between, which T5 and XLNet have and BERT has not.
    """

    width: Count | None = None
    activation: Activation = "gelu"
    gated: bool = False
    dropout: Fraction = 0.0


class SharedLayersConfig(Config):
    """Layers with the same weights (Lan et al. 2019, "ALBERT", section 3.1).

    Layers fall into `groups`, one after another, and each group applies its `blocks` again and again.

    Attributes:
        groups: Groups whose weights differ, `num_hidden_groups` of ALBERT's configuration.
        blocks: Blocks of a group, whose weights differ too, its `inner_group_num`. The model's `layers` count
            all blocks that are applied, ALBERT's `num_hidden_layers` times these.
    """

    groups: Count = 1
    blocks: Count = 1

    def distinct(self, layers: int) -> int:
        """Returns how many blocks have weights of their own.

        Raises:
            ValueError: if the groups do not fit into so many layers.

        Example:

        >>> SharedLayersConfig(groups=2, blocks=2).distinct(12)
        4
        """
        if layers % self.blocks:
            raise ValueError(f"share_layers.blocks: {self.blocks} does not divide layers: {layers}")
        if self.groups > layers // self.blocks:
            raise ValueError(f"share_layers.groups: {self.groups} is above {layers // self.blocks}")
        return self.groups * self.blocks


class NormConfig(Config):
    """Normalisation, and where it stands.

    Attributes:
        kind: Layer norm (Ba et al. 2016) or root mean square norm (Zhang and Sennrich 2019).
        placement: `post` normalises the sum of a sublayer and its input; `pre` the sublayer's input, with one
            more norm after the last block.
        epsilon: Added to the variance.
    """

    kind: Literal["layer_norm", "rms_norm"] = "layer_norm"
    placement: Literal["post", "pre"] = "post"
    epsilon: float = pydantic.Field(default=1e-12, gt=0)


class LearnedPositionsConfig(Config):
    """A learned vector for each position, added to the embeddings.

    Attributes:
        length: Rows of the table, the longest sequence that the model can read.
        unused: Further rows that stand before the first position and are never read, as BART's reference
            code keeps two and RoBERTa's two; they only matter to parameter counts and to copied weights.
    """

    kind: Literal["learned"] = "learned"
    length: Count = 512
    unused: int = pydantic.Field(default=0, ge=0)


class SinusoidalPositionsConfig(Config):
    """Fixed sines and cosines, added to the embeddings (Vaswani et al. 2017, section 3.5)."""

    kind: Literal["sinusoidal"] = "sinusoidal"


class RotaryScalingConfig(Config):
    """Llama 3.1's stretching of rotary frequencies to longer contexts.

    Attributes:
        factor: By which low frequencies are slowed down.
        low_frequency_factor, high_frequency_factor: Wavelengths above `original_length` over the first are
            slowed down in full, those below `original_length` over the second are left alone.
        original_length: Context of the training before.
    """

    factor: float = pydantic.Field(default=8.0, ge=1)
    low_frequency_factor: float = pydantic.Field(default=1.0, gt=0)
    high_frequency_factor: float = pydantic.Field(default=4.0, gt=0)
    original_length: Count = 8192


class RotaryPositionsConfig(Config):
    """Queries and keys turned by an angle that grows with the position (Su et al. 2021, "RoFormer").

    Attributes:
        base: Of the wavelengths.
        scaling: For contexts beyond the training's; null for none.
    """

    kind: Literal["rotary"] = "rotary"
    base: float = pydantic.Field(default=10_000.0, gt=1)
    scaling: RotaryScalingConfig | None = None


class RelativeBucketsConfig(Config):
    """A learned bias of each head for buckets of distances, shared by all layers (Raffel et al. 2019, 2.1).

    Attributes:
        buckets: Of distances; half of them exact, the others growing logarithmically. An odd number leaves
            one unused in a bidirectional stack, as in the reference code.
        max_distance: From here on, all distances share the last bucket.
    """

    kind: Literal["relative_buckets"] = "relative_buckets"
    buckets: int = pydantic.Field(default=32, ge=4)
    max_distance: Count = 128

    @pydantic.model_validator(mode="after")
    def _buckets_are_filled(self):
        if self.buckets // 2 >= self.max_distance:
            raise ValueError(f"buckets: {self.buckets} must be below 2 x max_distance: {self.max_distance}")
        return self


class DisentangledPositionsConfig(Config):
    """Content and relative position attend to one another (He et al. 2020, "DeBERTa", section 3.1).

    Attributes:
        max_distance: Largest distance that is told apart.
        buckets: Of log-spaced distances in each direction (DeBERTa v3); null tells all distances apart.
    """

    kind: Literal["disentangled"] = "disentangled"
    max_distance: Count = 512
    buckets: Annotated[int, pydantic.Field(ge=2)] | None = 256

    @pydantic.model_validator(mode="after")
    def _buckets_are_filled(self):
        if self.buckets and self.buckets // 2 >= self.max_distance - 1:
            raise ValueError(
                f"buckets: {self.buckets} must be below 2 x max_distance: {self.max_distance} - 2"
            )
        return self

    @property
    def span(self) -> int:
        """Distances, or buckets of them, that are told apart in each direction."""
        return self.buckets or self.max_distance


Positions = Annotated[
    LearnedPositionsConfig
    | SinusoidalPositionsConfig
    | RotaryPositionsConfig
    | RelativeBucketsConfig
    | DisentangledPositionsConfig,
    pydantic.Field(discriminator="kind"),
]


class EmbeddingsConfig(Config):
    """What stands before the first block.

    Attributes:
        width: Of the token table; where it is not the model's, a projection follows (Lan et al. 2019,
            "ALBERT", section 3.1, factorised embeddings). The model's width where it is not given.
        segments: Learned segment embeddings; 0 for none.
        norm: Normalise the sum, before dropout.
        initializer_stddev: Of the token table; the model's where it is not given. T5's starts from 1.
    """

    width: Count | None = None
    segments: int = pydantic.Field(default=0, ge=0)
    norm: bool = False
    initializer_stddev: Annotated[float, pydantic.Field(gt=0)] | None = None
