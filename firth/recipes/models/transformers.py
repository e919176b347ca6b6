"""The transformers of one stack of blocks, and of an encoder with a decoder."""

from typing import ClassVar, Literal

import pydantic

from firth.recipes.models.block_counts import (
    added_to_tokens,
    attention_bytes,
    block_bytes,
    block_work,
    cross_attention,
    factorised,
    further_blocks,
    gradient_bytes,
    head_widths,
    mask_bytes,
    norm_bytes,
    stack,
)
from firth.recipes.models.blocks import EmbeddingsConfig, Layers
from firth.recipes.models.facts import Activations, Lengths, ModelFacts, Work
from firth.recipes.models.stack import StackConfig


class TransformerConfig(ModelFacts, StackConfig):
    """A stack of blocks, and the parts before it."""

    takes_virtual_tokens: ClassVar[bool] = True
    gives_attention: ClassVar[bool] = True

    embeddings: EmbeddingsConfig = EmbeddingsConfig()
    """Parts before the first block."""

    @property
    def takes_prefixes(self) -> bool:
        """True if keys have no positions of their own, which disentangled ones have."""
        return self.takes_virtual_tokens and not self.positions.disentangled

    @property
    def embedding_width(self) -> int:
        """Width of the token table."""
        return self.embeddings.width or self.width

    @property
    def projects_embeddings(self) -> bool:
        """True if a projection follows the token table."""
        return self.embeddings.projected or self.embedding_width != self.width

    @property
    def separates_segments(self) -> bool:
        """True if the table of segments has more than one row, which RoBERTa's has not."""
        return self.embeddings.segments > 1

    @property
    def separators(self) -> int:  # type: ignore[override]
        """Number of separators between two texts: two for a table of one segment, which is RoBERTa's."""
        return 2 if self.embeddings.segments == 1 else 1

    @property
    def reads_segments(self) -> bool:  # type: ignore[override]
        """True if there is a table of segments."""
        return bool(self.embeddings.segments)

    @property
    def longest(self) -> int | None:
        """Length of the longest sequence that the model can read, in tokens; None if there is no bound."""
        return self.positions.longest

    @property
    def divided_sizes(self) -> dict[str, int]:  # type: ignore[override]
        """Heads, which attention is divided by, and the inner width of the feed-forward layers."""
        return {
            "attention.heads": self.attention.heads,
            "attention.key_value_heads": self.key_value_heads,
            "feed_forward.width": self.inner_width,
        }

    @property
    def not_fused(self) -> str:  # type: ignore[override]
        """Why the fused kernel of attention cannot compute it; empty if it can."""
        if self.positions.disentangled or self.positions.biases_scores:
            return "the kernel knows no scores of distances, which model.positions adds"
        rate = self.attention.dropout
        return (
            f"the kernel knows no dropout; model.attention.dropout is {rate:g}, and 0 works" if rate else ""
        )

    @property
    def stack(self) -> StackConfig:
        """The part that a stack of blocks is made of."""
        return StackConfig(**{name: getattr(self, name) for name in StackConfig.model_fields})

    @property
    def own_layers(self) -> int:
        """Blocks that have weights of their own."""
        return self.distinct_blocks(self.layers)

    def largest_weight(self, vocabulary: int) -> int:
        """Returns the parameters of the token table, or of a layer's largest kernel.

        Args:
            vocabulary: Number of rows of the token table.
        """
        return max(vocabulary * self.embedding_width, self.largest_kernel)

    def work(self, lengths: Lengths) -> Work:
        """Returns the work of all blocks over the whole row, scores of masked pairs included.

        Args:
            lengths: Tokens of a row.
        """
        blocks = further_blocks(self, self.layers, lengths)
        return Work(factorised(self) * lengths.input + blocks.row, blocks.step)

    def activations(self, lengths: Lengths, number: int) -> Activations:
        """Returns the bytes kept by all blocks over the whole row.

        Args:
            lengths: Tokens of a row.
            number: Bytes of a number that products are computed with.
        """
        length = lengths.input
        block = block_bytes(self, length, number)
        distances = self.positions.distances(length)
        # The embeddings' dropout, and the norm after them or after the last block.
        around = norm_bytes(self, length, number)
        return Activations(
            blocks=self.layers * block + around,
            inputs=number * (self.layers + 1) * length * self.width + around + mask_bytes(length),
            block=block,
            gradients=gradient_bytes(self, length, length, distances, number),
        )


class MaskedTransformerConfig(TransformerConfig):
    """A bidirectional encoder: BERT, RoBERTa, SpanBERT, ALBERT, ELECTRA, DeBERTa, UniLM."""

    architecture: ClassVar[str] = "encoder"

    kind: Literal["masked_transformer"] = "masked_transformer"
    embeddings: EmbeddingsConfig = EmbeddingsConfig(segments=2, norm=True)

    def parameter_counts(self, vocabulary: int) -> dict[str, int]:
        """Returns the parameters of an encoder, by part.

        `embeddings` are tokens, segments, positions, their norm, and the projection of a factorised table;
        `encoder` are all blocks, with what they share.

        Args:
            vocabulary: Number of rows of the token table.
        """
        tokens = vocabulary * self.embedding_width
        return {"embeddings": tokens + added_to_tokens(self), "encoder": stack(self, self.layers)}


class CausalTransformerConfig(TransformerConfig):
    """A decoder whose tokens see those before them: GPT, Llama, prefix LM."""

    architecture: ClassVar[str] = "decoder"
    has_encoder: ClassVar[bool] = False

    # Factor of the states before the projection to the vocabulary.
    output_scale: ClassVar[float] = 1.0
    kind: Literal["causal_transformer"] = "causal_transformer"
    tied_output: bool = True
    """True if the vocabulary projection is the token table."""
    bidirectional_prefix: bool = False
    """True if the tokens of a prefix see all of it; the objective says what the prefix is."""
    scaled_residual_initializer: bool = False
    """True to start the projections that end a residual branch from a standard deviation divided by the root
    of their number (Radford et al. 2019, section 2.3)."""

    def parameter_counts(self, vocabulary: int) -> dict[str, int]:
        """Returns the parameters of a decoder, by part.

        `embeddings` are as in a masked transformer; `decoder` are all blocks, with what they share.

        Args:
            vocabulary: Number of rows of the token table.
        """
        tokens = vocabulary * self.embedding_width
        return {"embeddings": tokens + added_to_tokens(self), "decoder": stack(self, self.layers)}

    @pydantic.model_validator(mode="after")
    def _parts_are_causal(self) -> "CausalTransformerConfig":
        _refuse_disentangled(self)
        if self.embeddings.segments:
            raise ValueError("embeddings.segments: a causal transformer has no segments")
        return self


class EncoderDecoderConfig(TransformerConfig):
    """An encoder, and a decoder that attends to it: T5, BART."""

    architecture: ClassVar[str] = "encoder_decoder"
    has_decoder: ClassVar[bool] = True

    kind: Literal["encoder_decoder"] = "encoder_decoder"
    decoder_layers: Layers | None = None
    """Number of blocks of the decoder, next to `layers` of the encoder. Without it, as many."""
    share_encoder_decoder: bool = False
    """True if encoder and decoder use the same weights, except for the decoder's attention to the encoder
    (Raffel et al. 2019, section 3.2.2, "shared")."""
    tied_output: bool = True
    """True if the vocabulary projection is the token table."""
    scaled_output: bool = False
    """True to multiply the decoder's states by width ** -0.5 before a tied projection, as T5 does."""

    @property
    def blocks_of_decoder(self) -> int:
        """Blocks of the decoder."""
        return self.decoder_layers or self.layers

    @property
    def own_layers(self) -> int:
        """Those of the deeper stack; of the decoder where both are one."""
        decoder = self.distinct_blocks(self.blocks_of_decoder)
        return decoder if self.share_encoder_decoder else max(self.distinct_blocks(self.layers), decoder)

    @property
    def output_scale(self) -> float:
        """Factor of the decoder's states before the projection to the vocabulary."""
        return self.width**-0.5 if self.scaled_output and self.tied_output else 1.0

    @property
    def decoder_stack(self) -> StackConfig:
        """The part that the decoder's stack of blocks is made of."""
        return self.stack.model_copy(update={"layers": self.blocks_of_decoder})

    def parameter_counts(self, vocabulary: int) -> dict[str, int]:
        """Returns the parameters of an encoder and a decoder, by part.

        `embeddings` are the token table that both stacks read; `encoder` and `decoder` are all blocks, and
        each stack's own positions and norm of the embeddings. If both stacks share their weights, the
        decoder's part is its attention to the encoder alone.

        Args:
            vocabulary: Number of rows of the token table.
        """
        depth, before = self.blocks_of_decoder, added_to_tokens(self)
        own = 0 if self.share_encoder_decoder else before + stack(self, depth)
        return {
            "embeddings": vocabulary * self.embedding_width,
            "encoder": before + stack(self, self.layers),
            "decoder": own + cross_attention(self) * self.distinct_blocks(depth),
        }

    def work(self, lengths: Lengths) -> Work:
        """Returns the work of the encoder over the inputs and of the decoder over the targets.

        Each block of the decoder reads the inputs too.

        Args:
            lengths: Tokens of a row.
        """
        source, target = lengths.input, lengths.target
        queries, keys = head_widths(self)
        cross = target * (2 * self.width * queries + 2 * queries * source) + source * 2 * self.width * keys
        decoder = self.blocks_of_decoder * (target * block_work(self, target) + cross)
        return Work(super().work(lengths).row + factorised(self) * target + decoder)

    def activations(self, lengths: Lengths, number: int) -> Activations:
        """Returns the bytes kept by an encoder over the inputs and a decoder over the targets.

        Each block of the decoder attends to the inputs too.

        Args:
            lengths: Tokens of a row.
            number: Bytes of a number that products are computed with.
        """
        encoder, source, target = super().activations(lengths, number), lengths.input, lengths.target
        block = block_bytes(self, target, number) + attention_bytes(self, target, source, number)
        return Activations(
            blocks=encoder.blocks + self.blocks_of_decoder * block,
            inputs=encoder.inputs
            + number * (self.blocks_of_decoder + 1) * target * self.width
            + mask_bytes(target)
            + mask_bytes(target, source),
            block=max(encoder.block, block),
            gradients=max(encoder.gradients, gradient_bytes(self, target, target, 0, number)),
        )

    @pydantic.model_validator(mode="after")
    def _decoder_fits(self) -> "EncoderDecoderConfig":
        _refuse_disentangled(self)
        self.distinct_blocks(self.blocks_of_decoder)
        if self.share_encoder_decoder and self.blocks_of_decoder != self.layers:
            raise ValueError("share_encoder_decoder needs as many decoder_layers as layers")
        if self.embeddings.segments:
            raise ValueError("embeddings.segments: an encoder-decoder has no segments")
        return self


AnyTransformer = MaskedTransformerConfig | CausalTransformerConfig | EncoderDecoderConfig


def _refuse_disentangled(model: TransformerConfig) -> None:
    if model.positions.disentangled:
        raise ValueError(f"positions.kind: {model.positions.kind} works in masked_transformer only")
