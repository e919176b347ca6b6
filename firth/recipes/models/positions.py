"""The kinds of positions, and what layers, counting and checks ask them."""

from typing import Annotated, ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import Config
from firth.recipes.models.blocks import AttentionConfig, Count, check_plain_heads


class PositionsConfig(Config):
    """Base of the kinds of positions. Layers, counting and checks ask them; none asks which one it is."""

    disentangled: ClassVar[bool] = False
    """True if content and positions attend to one another, which attention of a class of its own does, in
    masked transformers alone."""
    turns: ClassVar[bool] = False
    """True if queries and keys are turned by their positions, and kept as they were and turned."""
    biases_scores: ClassVar[bool] = False
    """True if all layers add one bias to their scores, which is kept for each row."""
    counted_in_rows: ClassVar[bool] = False
    """True if distances are those in the row, with padding between two tokens."""
    longest: ClassVar[int | None] = None
    """Length of the longest sequence that has positions, in tokens; None if there is no bound."""
    rows: ClassVar[int] = 0
    """Number of rows, as wide as the embeddings, of the table that is added to them."""

    def check(self, attention: AttentionConfig, head_width: int) -> None:
        """Passes if an attention can read them.

        Args:
            attention: Attention of the stack.
            head_width: Width of a head.

        Raises:
            ValueError: if it cannot.
        """

    @property
    def of_local(self) -> "PositionsConfig":
        """Those of layers with local attention: here the same."""
        return self

    def parameter_count(self, width: int, heads: int) -> int:
        """Returns the parameters that the layers of a stack share.

        Args:
            width: Width of the hidden states.
            heads: Number of query heads.
        """
        return 0

    def distances(self, length: int) -> int:
        """Returns the number of distances that content attends to, and that attend to content.

        Args:
            length: Tokens of a row.
        """
        return 0


class LearnedPositionsConfig(PositionsConfig):
    """A learned vector for each position, added to the embeddings."""

    kind: Literal["learned"] = "learned"
    length: Count = 512
    """Number of rows of the table, the length of the longest sequence that the model can read."""
    unused: int = pydantic.Field(default=0, ge=0)
    """Number of further rows in front of the first position that are never read. BART's and RoBERTa's
    reference code keeps two. They matter only to parameter counts and to copied weights."""

    @property
    def longest(self) -> int:  # type: ignore[override]
        """The table's length."""
        return self.length

    @property
    def rows(self) -> int:  # type: ignore[override]
        """Those of all positions, and the unused ones."""
        return self.length + self.unused


class SinusoidalPositionsConfig(PositionsConfig):
    """Fixed sines and cosines, added to the embeddings (Vaswani et al. 2017, section 3.5)."""

    kind: Literal["sinusoidal"] = "sinusoidal"


class RotaryScalingConfig(Config):
    """Llama 3.1's stretching of rotary frequencies to longer contexts."""

    factor: float = pydantic.Field(default=8.0, ge=1)
    """Factor by which low frequencies are slowed down."""
    low_frequency_factor: float = pydantic.Field(default=1.0, gt=0)
    """Wavelengths above `original_length` over this number are slowed down in full."""
    high_frequency_factor: float = pydantic.Field(default=4.0, gt=0)
    """Wavelengths below `original_length` over this number are left as they are."""
    original_length: Count = 8192
    """Context, in tokens, of the training before."""


class RotaryPositionsConfig(PositionsConfig):
    """Queries and keys turned by an angle that grows with the position (Su et al. 2021, "RoFormer")."""

    turns: ClassVar[bool] = True
    kind: Literal["rotary"] = "rotary"
    base: float = pydantic.Field(default=10_000.0, gt=1)
    """Base of the wavelengths."""
    scaling: RotaryScalingConfig | None = None
    """Stretching to contexts longer than those of the training; null for none."""
    local_base: Annotated[float, pydantic.Field(gt=1)] | None = None
    """Base in layers with local attention, whose angles are not stretched; null for the same angles in all
    layers."""

    @property
    def of_local(self) -> "RotaryPositionsConfig":
        """Angles of their own base, where one is given."""
        return self if self.local_base is None else RotaryPositionsConfig(base=self.local_base)

    def check(self, attention: AttentionConfig, head_width: int) -> None:  # noqa: D102
        if head_width % 2:
            raise ValueError(
                f"attention.head_width: {head_width} is odd, but positions.kind: rotary turns pairs"
            )


class RelativeBucketsConfig(PositionsConfig):
    """A learned bias of each head for buckets of distances, shared by all layers (Raffel et al. 2019, section
    2.1).
    """

    counted_in_rows: ClassVar[bool] = True
    biases_scores: ClassVar[bool] = True

    kind: Literal["relative_buckets"] = "relative_buckets"
    buckets: int = pydantic.Field(default=32, ge=4)
    """Number of buckets of distances. Half of them hold one distance each, the others grow logarithmically.
    In a bidirectional stack, an odd number leaves one bucket unused, as in the reference code."""
    max_distance: Count = 128
    """Distance, in tokens, from which on all distances share the last bucket."""

    @pydantic.model_validator(mode="after")
    def _buckets_are_filled(self) -> "RelativeBucketsConfig":
        if self.buckets // 2 >= self.max_distance:
            raise ValueError(f"buckets: {self.buckets} must be below 2 x max_distance: {self.max_distance}")
        return self

    def parameter_count(self, width: int, heads: int) -> int:  # noqa: D102
        return self.buckets * heads


class DisentangledPositionsConfig(PositionsConfig):
    """Content and relative position attend to one another (He et al. 2020, "DeBERTa", section 3.1)."""

    disentangled: ClassVar[bool] = True

    kind: Literal["disentangled"] = "disentangled"
    max_distance: Count = 512
    """Largest distance, in tokens, that has a vector or a bucket of its own."""
    buckets: Annotated[int, pydantic.Field(ge=2)] | None = 256
    """Number of log-spaced buckets of distances in each direction (DeBERTa v3); null for one vector a
    distance."""

    @pydantic.model_validator(mode="after")
    def _buckets_are_filled(self) -> "DisentangledPositionsConfig":
        if self.buckets and self.buckets // 2 >= self.max_distance - 1:
            raise ValueError(
                f"buckets: {self.buckets} must be below 2 x max_distance: {self.max_distance} - 2"
            )
        return self

    @property
    def span(self) -> int:
        """Number of distances, or of their buckets, in each direction."""
        return self.buckets or self.max_distance

    def check(self, attention: AttentionConfig, head_width: int) -> None:  # noqa: D102
        check_plain_heads(attention, "positions.kind: disentangled")

    def parameter_count(self, width: int, heads: int) -> int:  # noqa: D102
        # A row for each distance to either side, and a layer norm over the rows.
        return 2 * self.span * width + 2 * width

    def distances(self, length: int) -> int:  # noqa: D102
        return 2 * length


Positions = Annotated[
    LearnedPositionsConfig
    | SinusoidalPositionsConfig
    | RotaryPositionsConfig
    | RelativeBucketsConfig
    | DisentangledPositionsConfig,
    pydantic.Field(discriminator="kind"),
]
