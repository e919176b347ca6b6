"""The parts of a transformer block, as small nested choices."""

from typing import Annotated, Literal

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE, Config, Fraction

Count = Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)]
Layers = Annotated[int, pydantic.Field(ge=1, le=10_000)]
Stddev = Annotated[float, pydantic.Field(gt=0)]
Activation = Literal["gelu", "gelu_approximate", "relu", "silu"]


class AttentionConfig(Config):
    """Multi-head attention (Vaswani et al. 2017, section 3.2)."""

    heads: Count = 12
    """Number of query heads. It divides the width, unless `head_width` is given."""
    key_value_heads: Count | None = None
    """Number of heads of keys and values, each shared by a group of query heads (Ainslie et al. 2023, "GQA").
    Without it, there are as many as `heads`."""
    head_width: Count | None = None
    """Width of a head. Without it, the model's width over `heads`."""
    scaled: bool = True
    """True to divide scores by the root of the head's width, which T5 does not."""
    dropout: Fraction = 0.1
    """Dropout rate of attention probabilities."""
    query_key_norm: bool = False
    """True to normalise each query and each key by its root mean square, with a learned scale that all heads
    share, before rotary positions turn them (Henry et al. 2020, "QKNorm"; Qwen 3). The number added to the
    mean square is the norm's."""

    @pydantic.model_validator(mode="after")
    def _groups_are_even(self) -> "AttentionConfig":
        if self.key_value_heads and self.heads % self.key_value_heads:
            raise ValueError(f"key_value_heads: {self.key_value_heads} does not divide heads: {self.heads}")
        return self


class LocalAttentionConfig(Config):
    """Layers whose tokens see those around them only, in turn with layers that see all (Warner et al. 2024,
    "Smarter, Better, Faster, Longer", section 2.1.1).
    """

    window: int = pydantic.Field(default=128, ge=2, le=MAX_SIZE)
    """Tokens that a token sees besides itself, half of them on each side; in a causal stack all of them
    before it."""
    global_every: Count = 3
    """Number of layers of which the first one sees all, over and over."""

    @pydantic.model_validator(mode="after")
    def _sides_are_even(self) -> "LocalAttentionConfig":
        if self.window % 2:
            raise ValueError(f"window: {self.window} is odd, and half of it is on each side")
        return self

    def is_local(self, layer: int) -> bool:
        """Returns whether a layer's tokens see those around them only.

        Args:
            layer: Number of the layer, from 0.

        Example:

        >>> [LocalAttentionConfig().is_local(layer) for layer in range(4)]
        [False, True, True, False]
        """
        return layer % self.global_every != 0


class FeedForwardConfig(Config):
    """The position-wise layer of a block (Vaswani et al. 2017, section 3.3)."""

    width: Count | None = None
    """Width of the inner layer. Without it, four times the model's width."""
    activation: Activation = "gelu"
    """Activation of the inner layer: exact GELU, its approximation by tanh, ReLU, or SiLU (also known as
    Swish)."""
    gated: bool = False
    """True to multiply the activation by a second projection (Shazeer 2020, "GLU Variants"): SwiGLU is `silu`
    gated, T5 1.1's GEGLU is `gelu_approximate` gated."""
    dropout: Fraction = 0.0
    """Dropout rate of the inner layer, which T5 and XLNet have and BERT does not."""


class SharedLayersConfig(Config):
    """Layers with the same weights (Lan et al. 2019, "ALBERT", section 3.1).

    Layers fall into `groups`, one after another, and each group applies its `blocks` again and again.
    """

    groups: Count = 1
    """Number of groups whose weights differ, `num_hidden_groups` of ALBERT's configuration."""
    blocks: Count = 1
    """Number of blocks of a group, whose weights differ too, `inner_group_num` of ALBERT's configuration. The
    model's `layers` count all blocks that are applied, which is `num_hidden_layers` times `blocks`."""

    def distinct(self, layers: int) -> int:
        """Returns the number of blocks that have weights of their own.

        Args:
            layers: Number of blocks that are applied.

        Raises:
            ValueError: if the groups do not fit into this number of layers.

        Example:

        >>> SharedLayersConfig(groups=2, blocks=2).distinct(12)
        4
        """
        if layers % self.blocks:
            raise ValueError(f"share_layers.blocks: {self.blocks} does not divide layers: {layers}")
        if self.groups > layers // self.blocks:
            raise ValueError(f"share_layers.groups: {self.groups} is above {layers // self.blocks}")
        return self.groups * self.blocks

    def order(self, layers: int) -> tuple[int, ...]:
        """Returns the number of the block that each layer applies; a group is applied to its end before the
        next.

        Args:
            layers: Number of blocks that are applied.

        Example:

        >>> SharedLayersConfig(groups=2).order(6), SharedLayersConfig(blocks=2).order(4)
        ((0, 0, 0, 1, 1, 1), (0, 1, 0, 1))
        """
        passes = layers // self.blocks
        groups = [place * self.groups // passes for place in range(passes)]
        return tuple(group * self.blocks + block for group in groups for block in range(self.blocks))


class NormConfig(Config):
    """Normalisation, and its place in a block."""

    kind: Literal["layer_norm", "rms_norm"] = "layer_norm"
    """Layer norm (Ba et al. 2016) or root mean square norm (Zhang and Sennrich 2019)."""
    placement: Literal["post", "pre"] = "post"
    """Place of the norms: `post` normalises the sum of a sublayer and its input; `pre` normalises the
    sublayer's input, with one more norm after the last block."""
    epsilon: float = pydantic.Field(default=1e-12, gt=0)
    """Number added to the variance."""
    first: bool = True
    """False for no norm before the first block's attention, where `pre` follows embeddings that are
    normalised (ModernBERT)."""

    @pydantic.model_validator(mode="after")
    def _post_norms_are_all_there(self) -> "NormConfig":
        if not self.first and self.placement != "pre":
            raise ValueError("first: false needs placement: pre")
        return self


class EmbeddingsConfig(Config):
    """The layers in front of the first block."""

    width: Count | None = None
    """Width of the token table. If it is not the model's width, a projection follows (Lan et al. 2019,
    "ALBERT", section 3.1, factorised embeddings). Without it, the model's width."""
    projected: bool = False
    """True for a projection between equal widths too, which ALBERT's released code has."""
    segments: int = pydantic.Field(default=0, ge=0)
    """Number of learned segment embeddings; 0 for none."""
    norm: bool = False
    """True to normalise the sum, before dropout."""
    initializer_stddev: Annotated[float, pydantic.Field(gt=0)] | None = None
    """Standard deviation that the token table starts from, 1 in T5. Without it, the model's."""


def check_plain_heads(attention: AttentionConfig, reader: str) -> None:
    """Passes if each query head has keys of its own and none is normalised; `reader` supports no others."""
    if attention.query_key_norm:
        raise ValueError(f"attention.query_key_norm: true does not work with {reader}")
    if attention.key_value_heads not in (None, attention.heads):
        raise ValueError(
            f"attention.key_value_heads: {attention.key_value_heads} does not work with {reader}"
        )
