"""Shape of a stack of transformer blocks: one frozen object, which layers and models take whole."""

import pydantic

from firth.recipes.base.recipe_type import Config, Fraction
from firth.recipes.models.blocks import (
    AttentionConfig,
    Count,
    FeedForwardConfig,
    Layers,
    LocalAttentionConfig,
    NormConfig,
    SharedLayersConfig,
    Stddev,
)
from firth.recipes.models.positions import LearnedPositionsConfig, Positions


class BlocksConfig(Config):
    """Values of all blocks with attention."""

    layers: Layers = 12
    """Number of blocks."""
    width: Count = 768
    """Width of the hidden states."""
    attention: AttentionConfig = AttentionConfig()
    """Attention of each block."""
    feed_forward: FeedForwardConfig = FeedForwardConfig()
    """Feed-forward layer of each block."""
    dropout: Fraction = 0.1
    """Dropout rate of embeddings and of each sublayer's output."""
    initializer_stddev: Stddev = 0.02
    """Standard deviation of the truncated normal that weights start from."""

    @pydantic.model_validator(mode="after")
    def _heads_divide_width(self) -> "BlocksConfig":
        if self.attention.head_width is None and self.width % self.attention.heads:
            raise ValueError(f"attention.heads: {self.attention.heads} does not divide width: {self.width}")
        return self

    @property
    def inner_width(self) -> int:
        """Width of the feed-forward layer."""
        return self.feed_forward.width or 4 * self.width

    @property
    def head_width(self) -> int:
        """Width of an attention head."""
        return self.attention.head_width or self.width // self.attention.heads

    @property
    def key_value_heads(self) -> int:
        """Heads of keys and values."""
        return self.attention.key_value_heads or self.attention.heads

    @property
    def largest_kernel(self) -> int:
        """Parameters of a block's largest kernel: one of the feed-forward layer, or of all heads together."""
        heads = self.attention.heads + 2 * self.key_value_heads
        return self.width * max(self.inner_width, heads * self.head_width)


class StackConfig(BlocksConfig):
    """Shape of a stack of transformer blocks.

    The defaults are BERT base's. `firth.layers.MaskedTransformer` and `firth.layers.CausalTransformer` take
    it whole, and keep it in their configs.

    Raises:
        ValueError: if a key or a value does not fit, with the nearest valid name.

    Example:

    >>> stack = StackConfig(layers=4, width=256, attention={"heads": 4}, norm={"placement": "pre"})
    >>> stack.head_width, stack.inner_width, stack.norm.kind
    (64, 1024, 'layer_norm')
    >>> StackConfig(width=256, norm={"kind": "rms_nrom"})
    Traceback (most recent call last):
        ...
    ValueError: StackConfig: norm.kind: 'rms_nrom' is not a choice here; did you mean rms_norm?
    """

    norm: NormConfig = NormConfig()
    """Norms of each block."""
    positions: Positions = LearnedPositionsConfig()
    """Positions that attention reads, or that are added to the embeddings before the first block (the kinds
    `learned` and `sinusoidal`)."""
    local_attention: LocalAttentionConfig | None = None
    """Layers whose tokens see those around them only, in turn with others that see all; null for none."""
    biases: bool = True
    """True for biases in all dense layers and layer norms."""
    share_layers: SharedLayersConfig | None = None
    """Blocks that have the same weights (Lan et al. 2019, "ALBERT", section 3.1); null for none."""
    output_dropout: Fraction = 0.0
    """Dropout rate of the states after the last block and the norm after it, which T5 has."""
    scaled_initializer: bool = False
    """True to start each kernel from a normal of one over the root of its inputs instead, that of queries
    divided by the root of a head's width unless scores are; tables start from normals that are not truncated.
    T5's reference code does so."""

    @pydantic.field_validator("share_layers", mode="before")
    @classmethod
    def _is_no_switch(cls, value: object) -> object:
        if isinstance(value, bool):
            meant = "{groups: 1}" if value else "null"
            raise ValueError(f"{'true' if value else 'false'} is written as {meant} now")
        return value

    @pydantic.model_validator(mode="after")
    def _positions_fit_heads(self) -> "StackConfig":
        self.positions.check(self.attention, self.head_width)
        return self

    @pydantic.model_validator(mode="after")
    def _layers_differ(self) -> "StackConfig":
        if self.local_attention and self.positions.disentangled:
            raise ValueError(f"local_attention: it does not work with positions.kind: {self.positions.kind}")
        if not self.local_attention and self.positions.of_local != self.positions:
            raise ValueError("positions.local_base: it needs local_attention")
        if not self.norm.first and self.share_layers:
            raise ValueError("share_layers: it does not work with norm.first: false")
        return self

    @pydantic.model_validator(mode="after")
    def _groups_fit_layers(self) -> "StackConfig":
        self.distinct_blocks(self.layers)
        return self

    def distinct_blocks(self, layers: int) -> int:
        """Returns the number of blocks that have weights of their own.

        Args:
            layers: Number of blocks that are applied.
        """
        return layers if self.share_layers is None else self.share_layers.distinct(layers)

    @property
    def stack(self) -> "StackConfig":
        """The part that a stack of blocks is made of, of a model that has more."""
        return self

    def is_local(self, layer: int) -> bool:
        """Returns whether a layer's tokens see those around them only.

        Args:
            layer: Number of the layer, from 0.
        """
        return self.local_attention is not None and self.local_attention.is_local(layer)

    @property
    def order(self) -> tuple[int, ...]:
        """Which block each layer is; several layers are one block where weights are shared."""
        shared = self.share_layers
        return tuple(range(self.layers)) if shared is None else shared.order(self.layers)
