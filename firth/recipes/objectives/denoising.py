"""Objectives that corrupt a text and let a decoder repair it."""

import functools
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import pydantic

from firth.recipes.base.recipe_type import Fraction
from firth.recipes.goals.goal import TextFrame
from firth.recipes.models.blocks import Count
from firth.recipes.objectives.language_models import Architecture
from firth.recipes.objectives.objective_base import Objective
from firth.recipes.tokenizers.tokenizer import Sequences

# Mean length of random spans, in tokens.
MEAN_SPAN = 3.0


class _Sentinels(Objective):
    """Base of the objectives that replace spans by sentinels.

    The inputs of a document are the tokens that are left with a sentinel for each span, and `[SEP]`; its
    targets are each sentinel with the tokens that it replaces, and a closing one.
    """

    heads: ClassVar[str] = "language_model"
    score_inputs: ClassVar[tuple[str, ...]] = ("text", "target")
    text_end: ClassVar[str] = "sep"
    # The inputs and `[SEP]`.
    text_frame: ClassVar[TextFrame] = TextFrame(before=())
    # Room that each further document takes in a row; see `raw_length`. Here it is the `[SEP]` of its inputs.
    special_tokens: ClassVar[int] = 1

    noise_density: float = pydantic.Field(default=0.15, gt=0.0, le=0.9)
    """Share of a document's tokens that is corrupted."""
    closing_sentinel: bool = False
    """True to close the targets with the next sentinel, as the paper's figures do; false to close them with
    `[SEP]`, as its reference code does with its end of sequence."""
    architecture: Architecture = "encoder_decoder"
    """Model that reads them: `encoder_decoder` gives inputs and targets to an encoder and a decoder;
    `decoder` puts them one after the other for one stack, the inputs being the prefix."""

    @property
    def model_architecture(self) -> str:  # type: ignore[override]
        """As the recipe says."""
        return self.architecture

    def noise_tokens(self, tokens: int) -> int:
        """Returns the number of a document's tokens that are corrupted: at least one, and not all.

        Args:
            tokens: Number of raw tokens of the document.
        """
        return min(max(round(tokens * self.noise_density), 1), max(tokens - 1, 0))

    def most_spans(self, tokens: int) -> int:
        """Returns the most spans that the noise of a document can make.

        Args:
            tokens: Number of raw tokens of the document.
        """
        noise = self.noise_tokens(tokens)
        return min(noise, tokens - noise + 1)

    def corrupted_lengths(self, tokens: int) -> tuple[int, int]:
        """Returns the longest inputs and targets of a document, both closed, in tokens.

        Args:
            tokens: Number of raw tokens of the document.
        """
        noise, spans = self.noise_tokens(tokens), self.most_spans(tokens)
        return tokens - noise + spans + 1, noise + spans + 1

    def raw_length(self, sequences: Sequences) -> int:
        """Returns the most raw tokens whose inputs fit `sequences.length` in any row (568 for 512 in T5).

        Args:
            sequences: Rows of the recipe.
        """
        return _raw_length(self, sequences)

    def sentinels_needed(self, sequences: Sequences) -> int:
        """Returns the number of sentinels that the tokenizer must have.

        Args:
            sequences: Rows of the recipe.
        """
        tokens = range(1, self.raw_length(sequences) + 1)
        return max(map(self.most_spans, tokens)) + self.closing_sentinel

    def input_length(self, sequences: Sequences) -> int:
        """Returns the tokens of an encoder's row, or of one stack's: inputs and targets without the last
        target.

        Args:
            sequences: Rows of the recipe.
        """
        if self.architecture == "encoder_decoder":
            return sequences.length
        return _fullest(self, sequences, self.raw_length(sequences), _both_lengths)

    def target_length(self, sequences: Sequences) -> int:
        """Returns the longest targets of any row: 114 for inputs of 512 in T5, where rows hold one document.

        Args:
            sequences: Rows of the recipe.
        """
        if self.architecture == "decoder":
            return 0
        return _fullest(self, sequences, self.raw_length(sequences), _target_length)


def _input_length(objective: _Sentinels, tokens: int) -> int:
    return objective.corrupted_lengths(tokens)[0]


def _target_length(objective: _Sentinels, tokens: int) -> int:
    return objective.corrupted_lengths(tokens)[1]


def _both_lengths(objective: _Sentinels, tokens: int) -> int:
    return sum(objective.corrupted_lengths(tokens)) - 1


@functools.lru_cache(maxsize=64)
def _raw_length(objective: _Sentinels, sequences: Sequences) -> int:
    tokens = 1
    while _input_length(objective, tokens + 1) <= sequences.length:
        tokens += 1
    if _fullest(objective, sequences, tokens, _input_length) <= sequences.length:
        return tokens
    fits, overflows = 1, tokens
    while overflows - fits > 1:
        middle = (fits + overflows) // 2
        if _fullest(objective, sequences, middle, _input_length) <= sequences.length:
            fits = middle
        else:
            overflows = middle
    return fits


@functools.lru_cache(maxsize=256)
def _fullest(
    objective: _Sentinels, sequences: Sequences, raw_length: int, size_of: Callable[[Any, int], int]
) -> int:
    return largest_row(
        lambda tokens: size_of(objective, tokens),
        raw_length,
        objective.special_tokens,
        sequences.max_documents,
    )


class SpanCorruption(_Sentinels):
    """Spans of tokens become sentinels; the targets are the spans (Raffel et al. 2019, section 3.3.4)."""

    # Room that each further document takes in a row, in raw tokens.
    special_tokens: ClassVar[int] = 3
    kind: Literal["span_corruption"] = "span_corruption"
    mean_span: float = pydantic.Field(default=MEAN_SPAN, ge=1.0)
    """Mean length of a span, in tokens."""
    random_roll: bool = True
    """True to rotate the spans by a random number of places. Otherwise a document always begins with a token
    that is kept and ends with one that is not, as in the reference code's default."""

    def most_spans(self, tokens: int) -> int:
        """Returns the number of spans: noise tokens over their mean length.

        Args:
            tokens: Number of raw tokens of the document.
        """
        return _spans(self.noise_tokens(tokens), tokens, self.mean_span)


class IidDenoising(_Sentinels):
    """Tokens are corrupted one by one; consecutive ones share a sentinel (Raffel et al. 2019, 3.1.4).

    This is the objective of the paper's worked example and of its baseline.
    """

    kind: Literal["iid_denoising"] = "iid_denoising"


class SalientSpans(_Sentinels):
    """Names, dates and numbers give way to sentinels (Guu et al. 2020, "REALM"; Roberts et al. 2020).

    One salient span of a document is hidden. Salient spans are found by rule in the pieces of a cased
    tokenizer: words of digits, names of months, and capitalised words that do not begin a sentence;
    neighbours make one span. A document without any is corrupted as `SpanCorruption` does, or left out of the
    loss.
    """

    needs_case: ClassVar[bool] = True

    kind: Literal["salient_spans"] = "salient_spans"
    max_span: Count = 10
    """Most tokens of a salient span; a longer one is hidden in part."""
    fallback: bool = True
    """True to corrupt documents without a salient span at random; false to give them no weight."""
    noise_density: float = pydantic.Field(default=0.15, gt=0.0, le=0.9)
    """Share of tokens that is corrupted in documents without a salient span."""

    def most_spans(self, tokens: int) -> int:
        """Returns the number of spans of a document that is corrupted at random.

        Args:
            tokens: Number of raw tokens of the document.
        """
        return _spans(self.noise_tokens(tokens), tokens, MEAN_SPAN)

    def corrupted_lengths(self, tokens: int) -> tuple[int, int]:
        """Returns the longest inputs and targets of a document, both closed, in tokens.

        Args:
            tokens: Number of raw tokens of the document.
        """
        _, targets = super().corrupted_lengths(tokens)
        return tokens + 1, max(min(tokens, self.max_span) + 2, targets)


def _spans(noise: int, tokens: int, mean_span: float) -> int:
    return min(max(round(noise / mean_span), 1), noise, tokens - noise)


class Denoising(Objective):
    """Corrupt a document in several ways and let the decoder write the original (Lewis et al. 2019, "BART").

    The corruptions are applied in the order of their keys below. A document's inputs are `[CLS] ... [SEP]`;
    the decoder reads `[SEP] [CLS] x1 ... xn` and its labels are `[CLS] x1 ... xn [SEP]`.
    """

    model_architecture: ClassVar[str] = "encoder_decoder"
    heads: ClassVar[str] = "language_model"
    score_inputs: ClassVar[tuple[str, ...]] = ("text", "target")
    decoder_start: ClassVar[tuple[str, ...]] = ("sep", "cls")
    text_end: ClassVar[str] = "sep"

    # `[CLS]` and `[SEP]`.
    special_tokens: ClassVar[int] = 2
    kind: Literal["denoising"] = "denoising"
    permute_sentences: bool = True
    """True to put the sentences of a document in a random order."""
    rotate: Fraction = 0.0
    """Share of documents that are rotated to begin at a random token."""
    delete_rate: Fraction = 0.0
    """Share of tokens that are left out."""
    mask_rate: Fraction = 0.0
    """Share of tokens that give way to a `[MASK]` each."""
    infill_rate: Fraction = 0.3
    """Share of tokens in spans that give way to one `[MASK]` each."""
    infill_mean: float = pydantic.Field(default=3.0, gt=0.0)
    """Mean of the Poisson distribution of span lengths; an empty span inserts a `[MASK]`."""

    def target_length(self, sequences: Sequences) -> int:
        """Returns the tokens of the decoder's row: as many as the row's.

        Args:
            sequences: Rows of the recipe.
        """
        return sequences.length


AnyDenoising = SpanCorruption | IidDenoising | SalientSpans | Denoising


_NOTHING = -(10**9)


def largest_row(
    size_of: Callable[[int], int], raw_length: int, special_tokens: int, max_documents: int
) -> int:
    """Returns the largest sum of sizes that the documents of a row can have, however rows are packed.

    A row holds 1 to `max_documents` documents. Their tokens, with `special_tokens` for each, are at most
    `raw_length + special_tokens` together. All such rows are considered, not only those that a packer makes.

    Example: documents of 1, 2 and 3 tokens come to 2, 2 and 3; the row holds 4 places, each document 1 more
    than its tokens. Two documents of one token make the most.

    >>> largest_row([0, 2, 2, 3].__getitem__, raw_length=3, special_tokens=1, max_documents=2)
    4
    """
    capacity = raw_length + special_tokens
    one = np.full(capacity + 1, _NOTHING, np.int64)
    for tokens in range(1, raw_length + 1):
        one[tokens + special_tokens] = size_of(tokens)
    one = np.maximum(np.maximum.accumulate(one), 0)
    # Doubling: the best of up to a documents and of up to b documents give the best of up to a + b documents.
    most, power, left = np.zeros_like(one), one, min(max_documents, capacity)
    while left:
        most = _together(most, power) if left % 2 else most
        left //= 2
        power = _together(power, power) if left else power
    return int(most[-1])


def _together(first: "np.ndarray[Any, Any]", second: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Returns max over a + b = c of first[a] + second[b], for each c: int64 [capacity + 1]."""
    return np.array([np.max(first[: c + 1] + second[c::-1]) for c in range(len(first))], np.int64)
