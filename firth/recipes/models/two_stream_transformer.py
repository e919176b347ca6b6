"""XLNet's transformer, whose blocks have two streams."""

from typing import ClassVar, Literal

import pydantic

from firth.recipes.models.block_counts import (
    attention,
    block_bytes,
    feed_forward,
    gradient_bytes,
    head_widths,
)
from firth.recipes.models.blocks import NormConfig, check_plain_heads
from firth.recipes.models.facts import Activations, Lengths, ModelFacts, Work, dense
from firth.recipes.models.stack import BlocksConfig


class TwoStreamTransformerConfig(ModelFacts, BlocksConfig):
    """XLNet's encoder with a content stream and a query stream (Yang et al. 2019, section 2.3).

    Relative sinusoidal positions and relative segments are a part of its attention.
    """

    architecture: ClassVar[str] = "two_streams"
    biases: ClassVar[bool] = True
    scaled_initializer: ClassVar[bool] = False
    # Sequences may be of any length.
    longest: ClassVar[None] = None
    # Relative segments are a part of its attention.
    reads_segments: ClassVar[bool] = True
    kind: Literal["two_stream_transformer"] = "two_stream_transformer"
    norm_epsilon: float = pydantic.Field(default=1e-12, gt=0)
    """Number added to the variance in its post-norm layer norms."""

    @pydantic.model_validator(mode="after")
    def _heads_are_plain(self) -> "TwoStreamTransformerConfig":
        check_plain_heads(self.attention, f"kind: {self.kind}")
        return self

    @property
    def norm(self) -> NormConfig:
        """The norm after each sublayer."""
        return NormConfig(epsilon=self.norm_epsilon)

    @property
    def divided_sizes(self) -> dict[str, int]:  # type: ignore[override]
        """Heads, which attention is divided by, and the inner width of the feed-forward layers."""
        return {"attention.heads": self.attention.heads, "feed_forward.width": self.inner_width}

    def parameter_counts(self, vocabulary: int) -> dict[str, int]:
        """Returns the parameters of XLNet's encoder, by part.

        `embeddings` are tokens, and the vector that the query stream starts from; `encoder` are all blocks. A
        block's attention has no biases at its projections, one more projection for relative positions, two
        vectors for relative segments and three learned query biases (Yang et al. 2019, sections 2.4 and 2.5).

        Args:
            vocabulary: Number of rows of the token table.
        """
        inner = self.attention.heads * self.head_width
        relative = dense(self.width, inner, bias=False) + 2 * inner + 3 * inner
        norms = 2 * 2 * self.width
        block = attention(self, bias=False) + relative + feed_forward(self, bias=True) + norms
        return {"embeddings": (vocabulary + 1) * self.width, "encoder": self.layers * block}

    def largest_weight(self, vocabulary: int) -> int:
        """Returns the parameters of the token table, or of a layer's largest kernel.

        Args:
            vocabulary: Number of rows of the token table.
        """
        return max(vocabulary * self.width, self.largest_kernel)

    def work(self, lengths: Lengths) -> Work:
        """Returns the work of the content stream over the row and of the query stream over predictions.

        Args:
            lengths: Tokens of a row.
        """
        length, width = lengths.input, self.width
        inner = self.attention.heads * self.head_width
        # Scores by content and by relative position (twice the length of rows), and the sum of values.
        seen = inner * (length + 2 * length + length)
        after = inner * width + 2 * width * self.inner_width
        content = 3 * width * inner + seen + after
        query = width * inner + seen + after
        row = self.layers * (length * content + lengths.selected * query)
        return Work(row, self.layers * 2 * length * width * inner)

    def activations(self, lengths: Lengths, number: int) -> Activations:
        """Returns the bytes kept by the blocks of both streams; of the last block, by the query stream alone.

        Where blocks are computed again, the content stream goes into each block twice: with the query stream,
        and alone to be read.

        Args:
            lengths: Tokens of a row.
            number: Bytes of a number that products are computed with.
        """
        length, both = lengths.input, lengths.input + lengths.selected
        query = block_bytes(self, lengths.selected, number, keys=length)
        # Both streams read the same keys and values.
        shared = number * length * 2 * head_widths(self)[1]
        block = block_bytes(self, length, number) + query - shared
        return Activations(
            blocks=(self.layers - 1) * block + query,
            inputs=number * self.width * (self.layers * (both + length) + both),
            block=block,
            # Scores of twice as many distances as tokens, in either direction.
            gradients=gradient_bytes(self, both, length, 2 * length, number),
        )
