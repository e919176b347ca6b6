"""Objectives that corrupt a text and let a decoder repair it."""

from typing import ClassVar, Literal

import pydantic

from firth.recipes.cleaning import Fraction
from firth.recipes.language_models import ARRANGED, Arrangement
from firth.recipes.objective_base import Objective
from firth.recipes.tokenizer import Sequences


class _Sentinels(Objective):
    """What replaces spans by sentinels has in common.

    A document's inputs are what is left with a sentinel for each span, and `[SEP]`; its targets each sentinel
    with the tokens that it stands for, and a closing one: `[SEP]`.

    Attributes:
        noise_density: Share of a document's tokens that is corrupted.
        arrangement: `encoder_decoder` gives inputs and targets to an encoder and a decoder; `decoder` puts
            them one behind the other for one stack, inputs being the prefix.
    """

    noise_density: float = pydantic.Field(default=0.15, gt=0.0, lt=1.0)
    arrangement: Arrangement = "encoder_decoder"

    @property
    def model_kinds(self) -> tuple[str, ...]:  # type: ignore[override]
        """Follows from the arrangement."""
        return ARRANGED[self.arrangement]

    def noise_tokens(self, tokens: int) -> int:
        """Returns how many of a document's tokens are corrupted: at least one, and not all."""
        return min(max(round(tokens * self.noise_density), 1), max(tokens - 1, 0))

    def most_spans(self, tokens: int) -> int:
        """Returns the most spans that the noise of a document can make."""
        noise = self.noise_tokens(tokens)
        return min(noise, tokens - noise + 1)

    def corrupted_lengths(self, tokens: int) -> tuple[int, int]:
        """Returns the longest inputs and targets of a document of so many raw tokens, `[SEP]` included."""
        noise, spans = self.noise_tokens(tokens), self.most_spans(tokens)
        return tokens - noise + spans + 1, noise + spans + 1

    @property
    def special_tokens(self) -> int:
        """Room that each document more in a row takes; see `raw_length`."""
        return 3

    def raw_length(self, sequences: Sequences) -> int:
        """Returns the most raw tokens whose inputs fit `sequences.length` (568 for 512 by default)."""
        tokens = sequences.length
        while self.corrupted_lengths(tokens + 1)[0] <= sequences.length:
            tokens += 1
        while tokens > 1 and self.corrupted_lengths(tokens)[0] > sequences.length:
            tokens -= 1
        return tokens

    def _target_length(self, sequences: Sequences) -> int:
        """The longest targets of a row of one document, or of several that share it."""
        raw, each = self.raw_length(sequences), self.special_tokens
        documents = range(1, sequences.max_documents + 1)
        return max(self._targets_of(raw - each * (count - 1), count) for count in documents)

    def _targets_of(self, tokens: int, documents: int) -> int:
        if documents == 1:
            return self.corrupted_lengths(tokens)[1]
        # Rounding adds at most half a token of noise, and its share of spans, to each document.
        noise = tokens * self.noise_density + documents * 0.5
        return int(noise * (1 + self._spans_per_noise) + documents * 2.5)

    @property
    def _spans_per_noise(self) -> float:
        return 1.0

    def input_length(self, sequences: Sequences) -> int:
        """As said, and the targets behind it where both go to one stack."""
        extra = self._target_length(sequences) if self.arrangement == "decoder" else 0
        return sequences.length + extra

    def target_length(self, sequences: Sequences) -> int:
        """Computed, so that the targets of a full row just fit (114 for inputs of 512 by default)."""
        return self._target_length(sequences) if self.arrangement == "encoder_decoder" else 0


class SpanCorruption(_Sentinels):
    """Spans of tokens give way to sentinels; the targets are the spans (Raffel et al. 2019, section 3.3.4).

    Attributes:
        noise_density: Share of a document's tokens that is corrupted.
        mean_span: Mean length of a span, in tokens.
        random_roll: Turn the spans around by a random number of places. Without, a document always begins
            with a token that is kept and ends with one that is not, as in the reference code's default.
        arrangement: `encoder_decoder` or, inputs and targets for one stack, `decoder`.
    """

    kind: Literal["span_corruption"] = "span_corruption"
    mean_span: float = pydantic.Field(default=3.0, ge=1.0)
    random_roll: bool = True

    def most_spans(self, tokens: int) -> int:
        """Returns the number of spans: noise tokens over their mean length."""
        noise = self.noise_tokens(tokens)
        return min(max(round(noise / self.mean_span), 1), noise, tokens - noise) if noise else 0

    @property
    def _spans_per_noise(self) -> float:
        return 1.0 / self.mean_span


class IidDenoising(_Sentinels):
    """Tokens are corrupted one by one; consecutive ones share a sentinel (Raffel et al. 2019, 3.1.4).

    This is the objective of the paper's worked example and of its baseline.
    """

    kind: Literal["iid_denoising"] = "iid_denoising"


class SalientSpans(_Sentinels):
    """Names, dates and numbers give way to sentinels (Guu et al. 2020, "REALM"; Roberts et al. 2020).

    One salient span of a document is hidden. They are found by rule in the pieces of a cased tokenizer:
    words of digits, names of months, and capitalised words that do not begin a sentence; neighbours make one
    span. A document without any is corrupted as `SpanCorruption` does, or left out of the loss.

    Attributes:
        noise_density: Of documents without a salient span.
        fallback: Corrupt those at random, or give them no weight.
        arrangement: `encoder_decoder` or `decoder`.
    """

    kind: Literal["salient_spans"] = "salient_spans"
    fallback: bool = True


class Denoising(Objective):
    """Corrupt a document in several ways and let the decoder write the original (Lewis et al. 2019, "BART").

    The steps are applied in the order in which they stand here. A document's inputs are `[CLS] ... [SEP]`;
    the decoder reads `[SEP] [CLS] x1 ... xn` and its labels are `[CLS] x1 ... xn [SEP]`.

    Attributes:
        permute_sentences: Put the sentences of a document in a random order.
        rotate: Share of documents that are turned around to begin at a random token.
        delete_rate: Share of tokens that are left out.
        mask_rate: Share of tokens that give way to a `[MASK]` each.
        infill_rate: Share of tokens in spans that give way to one `[MASK]` each.
        infill_mean: Of the Poisson distribution of span lengths; an empty span puts in a `[MASK]`.
    """

    model_kinds: ClassVar[tuple[str, ...]] = ("encoder_decoder",)

    kind: Literal["denoising"] = "denoising"
    permute_sentences: bool = True
    rotate: Fraction = 0.0
    delete_rate: Fraction = 0.0
    mask_rate: Fraction = 0.0
    infill_rate: Fraction = 0.3
    infill_mean: float = pydantic.Field(default=3.0, gt=0.0)

    @property
    def special_tokens(self) -> int:
        """`[CLS]` and `[SEP]`."""
        return 2

    def target_length(self, sequences: Sequences) -> int:
        """As long as the row."""
        return sequences.length
