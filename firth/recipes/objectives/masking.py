"""Objectives that hide tokens from a bidirectional encoder."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import Config, Fraction
from firth.recipes.goals.goal import MLM, NSP, SOP, Epochs, Loss
from firth.recipes.models.blocks import Count
from firth.recipes.objectives.generator import generator_of
from firth.recipes.objectives.objective_base import Objective
from firth.recipes.tokenizers.tokenizer import Sequences

Rate = pydantic.Field(default=0.15, gt=0.0, lt=1.0)


class _Masking(Objective):
    """Base of the objectives that mask tokens."""

    model_architecture: ClassVar[str] = "encoder"
    heads: ClassVar[str] = "masked_lm"
    fills_masks: ClassVar[bool] = True
    counts_pooler: ClassVar[bool] = True
    special_tokens: ClassVar[int] = 2
    """`[CLS]` and `[SEP]`."""
    has_segments: ClassVar[bool] = False
    """True if documents are split in two segments."""
    decoder_of_masks: ClassVar["EnhancedMaskDecoder | None"] = None
    """Way in which the last block decodes masked tokens again; None for not at all."""
    loss_terms: ClassVar[tuple[Loss, ...]] = (MLM,)

    mask_rate: float = Rate
    """Share of maskable tokens that are predicted."""
    first_mask_rate: Annotated[float, pydantic.Field(gt=0.0, lt=1.0)] | None = None
    """Share at the run's first step, from which on it goes to `mask_rate` on a straight line (Yang et al.
    2022, "Learning Better Masking for Better Language Model Pre-training", section 3, from 0.3 to 0.15); null
    for `mask_rate` throughout. Held-out losses have `mask_rate`."""
    mask_token_rate: Fraction = 0.8
    """Share of the predicted tokens that is replaced by `[MASK]`."""
    random_token_rate: Fraction = 0.1
    """Share of the predicted tokens that is replaced by a random piece. The rest is left as it was, and still
    predicted."""
    max_predictions: Count = 20
    """Most predicted tokens of a row; no more are selected."""
    paper_exact: bool = False
    """True to draw random replacements from the whole vocabulary, special pieces included, as the reference
    code does."""

    @pydantic.model_validator(mode="after")
    def _rates_fit(self) -> "_Masking":
        if self.mask_token_rate + self.random_token_rate > 1.0 + 1e-9:
            raise ValueError("mask_token_rate + random_token_rate is above 1")
        return self

    def mask_rate_at(self, progress: Any) -> Any:
        """Returns the share of maskable tokens that are predicted at a place of the run.

        Args:
            progress: Share of the run's steps that have been made, a number, an array or a tensor.

        Example:

        >>> [round(MaskedLM(first_mask_rate=0.3).mask_rate_at(share), 3) for share in (0.0, 0.5, 1.0)]
        [0.3, 0.225, 0.15]
        """
        if self.first_mask_rate is None:
            return self.mask_rate
        return self.first_mask_rate + (self.mask_rate - self.first_mask_rate) * progress

    def scheduled(self, progress: float) -> dict[str, float]:
        """Returns the mask rate at a place of the run, if it changes over the run.

        Args:
            progress: Share of the run's steps that have been made.
        """
        return {} if self.first_mask_rate is None else {"mask_rate": float(self.mask_rate_at(progress))}

    @property
    def predictions(self) -> int:  # type: ignore[override]
        """The most predictions of a row."""
        return self.max_predictions

    @property
    def further_passes(self) -> int:
        """Number of times that the last block is applied again."""
        return self.decoder_of_masks.passes - 1 if self.decoder_of_masks else 0

    @property
    def mask_positions(self) -> int:
        """Number of rows of the decoder's table of positions; 0 without a decoder."""
        return self.decoder_of_masks.length if self.decoder_of_masks else 0

    def conflicts(self, model: Any, sequences: Sequences) -> Iterator[str]:
        if self.has_segments and model.embeddings.segments == 1:
            yield f"objective.kind: {self.kind} with pairs needs model.embeddings.segments: 2, or 0 for none"
        wanted = round((self.first_mask_rate or 0.0) * sequences.length)
        if wanted > self.max_predictions:
            yield (
                f"objective.first_mask_rate: {self.first_mask_rate:g} of sequences.length is {wanted}, "
                f"above objective.max_predictions: {self.max_predictions}"
            )


class EnhancedMaskDecoder(Config):
    """DeBERTa's last block, which learns where tokens stand in their document (He et al. 2020, section 3.2).

    The last block is applied `passes` times. It reads the states before it; its first queries are those
    states plus learned vectors of absolute positions, its next ones what the pass before returned.
    """

    length: Count = 512
    """Number of rows of the table of positions."""
    passes: Count = 2
    """Number of times that the last block is applied, two in the reference code."""


class MaskDecoding(_Masking):
    """Objectives whose masked tokens DeBERTa's last block may decode."""

    mask_decoder: EnhancedMaskDecoder | None = None
    """Way in which a stack with disentangled positions learns absolute ones; null for none."""

    @property
    def decoder_of_masks(self) -> EnhancedMaskDecoder | None:  # type: ignore[override]
        """Decoder that the recipe states."""
        return self.mask_decoder

    def conflicts(self, model: Any, sequences: Sequences) -> Iterator[str]:  # noqa: D102
        yield from super().conflicts(model, sequences)
        if self.mask_decoder is None:
            return
        if not model.positions.disentangled:
            yield (
                "objective.mask_decoder: it needs model.positions.kind: disentangled, "
                f"not {model.positions.kind}"
            )
        if sequences.length > self.mask_decoder.length:
            yield (
                f"sequences.length: {sequences.length} is above "
                f"objective.mask_decoder.length: {self.mask_decoder.length}"
            )


class MaskedLM(MaskDecoding):
    """Masked LM, with a task on pairs of segments if asked (Devlin et al. 2018, section 3.1)."""

    other_names: ClassVar[tuple[str, ...]] = (
        "fill-mask",
        "masked-language-modeling",
        "masked-language-modelling",
        "mlm",
    )
    kind: Literal["masked_lm"] = "masked_lm"
    whole_word: bool = False
    """True to select whole words instead of pieces."""
    max_ngram: Count = 1
    """Most whole words of a selected run: runs of n words have a probability in proportion to 1/n (Lan et al.
    2019, "ALBERT", section 4.1); 1 selects single pieces or words."""
    next_sentence: bool = True
    """True to learn also whether the second segment follows the first."""
    random_next_rate: Fraction = 0.5
    """Share of pairs whose second segment comes from another document."""
    sentence_order: bool = False
    """True to learn also whether two consecutive segments are in their order (ALBERT, section 3.1); not
    together with `next_sentence`."""
    swap_rate: Fraction = 0.5
    """Share of pairs that are put in the wrong order."""
    masking_copies: int = pydantic.Field(default=0, ge=0)
    """Number of ways in which each row is masked and its segments are chosen. Later epochs repeat them in
    turn: BERT's static masking, of 10 copies in its released code. 0 draws again in every epoch, which is
    dynamic masking (Liu et al. 2019, "RoBERTa", section 4.1)."""

    def epochs_drawn(self, epochs: Epochs) -> Epochs:
        """Returns the epochs whose random draws are used in the given ones: those of the first
        `masking_copies`.

        Args:
            epochs: Number of an epoch, or an array of them.
        """
        return epochs % self.masking_copies if self.masking_copies else epochs

    @pydantic.model_validator(mode="after")
    def _one_task_on_pairs(self) -> "MaskedLM":
        if self.next_sentence and self.sentence_order:
            raise ValueError("sentence_order: true needs next_sentence: false")
        return self

    @pydantic.model_validator(mode="after")
    def _pairs_are_not_decoded(self) -> "MaskedLM":
        if self.mask_decoder and self.has_pairs:
            raise ValueError("mask_decoder needs next_sentence: false and sentence_order: false")
        return self

    @property
    def has_pairs(self) -> bool:
        """True if documents are split in two segments, one task on which is learned."""
        return self.next_sentence or self.sentence_order

    @property
    def has_segments(self) -> bool:  # type: ignore[override]
        """The same as `has_pairs`."""
        return self.has_pairs

    @property
    def uses_negative(self) -> bool:  # type: ignore[override]
        """Random next sentences come from another row."""
        return self.next_sentence

    @property
    def special_tokens(self) -> int:  # type: ignore[override]
        """`[CLS]` and `[SEP]`, and one more `[SEP]` with pairs."""
        return 3 if self.has_pairs else 2

    @property
    def trains_pooler(self) -> bool:  # type: ignore[override]
        """True if pairs are predicted from the pooled `[CLS]`."""
        return self.has_pairs

    @property
    def loss_terms(self) -> tuple[Loss, ...]:  # type: ignore[override]
        """`mlm`, and `nsp` or `sop`."""
        pairs = NSP if self.next_sentence else SOP
        return (MLM, pairs) if self.has_pairs else (MLM,)


class SpanMasking(_Masking):
    """Masked LM over contiguous spans, with the span boundary objective (Joshi et al. 2019, "SpanBERT").

    The kind of replacement is drawn once for each span.
    """

    heads: ClassVar[str] = "span_masking"

    kind: Literal["span_masking"] = "span_masking"
    length_parameter: float = pydantic.Field(default=0.2, gt=0.0, lt=1.0)
    """Parameter of the geometric distribution of span lengths, in whole words."""
    max_span: Count = 10
    """Longest span, in whole words; the distribution is cut off and normalised there."""
    boundary: bool = True
    """True to predict each token also from the two tokens around its span and its place in it."""
    boundary_places: Count = 20
    """Number of places in a span that the boundary objective tells apart, in pieces (whereas `max_span` is in
    words). It does not predict the pieces after them; masked LM does."""

    @property
    def loss_terms(self) -> tuple[Loss, ...]:  # type: ignore[override]
        """`mlm`, and `sbo` for the span boundary objective."""
        return (MLM, Loss("sbo", "span boundary objective")) if self.boundary else (MLM,)

    def conflicts(self, model: Any, sequences: Sequences) -> Iterator[str]:  # noqa: D102
        yield from super().conflicts(model, sequences)
        width, table = model.width, model.embedding_width
        if self.boundary and table != width:
            yield f"objective.boundary: true needs model.embeddings.width: {width}, not {table}"


class ReplacedTokenDetection(MaskDecoding):
    """Tell which tokens a small generator replaced (Clark et al. 2020, "ELECTRA").

    The generator has the model's own shape, made smaller, and shares its embeddings.
    """

    heads: ClassVar[str] = "replaced_token_detection"
    # The generator predicts tokens, and only the discriminator is kept.
    fills_masks: ClassVar[bool] = False
    counts_pooler: ClassVar[bool] = False

    kind: Literal["replaced_token_detection"] = "replaced_token_detection"
    mask_token_rate: Fraction = 0.85
    random_token_rate: Fraction = 0.0
    generator_width_fraction: float = pydantic.Field(default=0.25, gt=0.0, le=1.0)
    """Share of the width, the feed-forward width and the heads that the generator has."""
    generator_layers_fraction: float = pydantic.Field(default=1.0, gt=0.0, le=1.0)
    """Share of the layers that the generator has."""
    generator_weight: float = pydantic.Field(default=1.0, ge=0.0)
    """Weight of the generator's loss in the sum of both."""
    discriminator_weight: float = pydantic.Field(default=50.0, ge=0.0)
    """Weight of the discriminator's loss in the sum of both."""
    temperature: float = pydantic.Field(default=1.0, gt=0.0)
    """Temperature of the generator's samples."""

    @property
    def loss_terms(self) -> tuple[Loss, ...]:  # type: ignore[override]
        """`mlm` of the generator, `rtd` of the discriminator."""
        detection = Loss("rtd", "replaced token detection", classes=2, weight=self.discriminator_weight)
        return (MLM.weighing(self.generator_weight), detection)

    def conflicts(self, model: Any, sequences: Sequences) -> Iterator[str]:  # noqa: D102
        yield from super().conflicts(model, sequences)
        try:
            generator_of(model, self)
        except pydantic.ValidationError as error:
            reason = error.errors()[0]["ctx"]["error"]
            yield (
                f"objective.generator_width_fraction: {self.generator_width_fraction:g} makes a "
                f"generator that cannot work, for its {reason}"
            )

    def divided_sizes(self, model: Any) -> dict[str, int]:  # noqa: D102
        sizes = generator_of(model, self).divided_sizes
        return {f"the generator's {key}": size for key, size in sizes.items()}


class UniLM(_Masking):
    """Masked LM under a mixture of attention masks (Dong et al. 2019, "UniLM", section 2.3).

    Each document is `[CLS] S1 [SEP] S2 [SEP]`. The mask is drawn once for a row. The paper's
    `single_segments` and `next_sentence` are on in its presets.
    """

    mixes_masks: ClassVar[bool] = True
    # `[CLS]` and two `[SEP]`.
    special_tokens: ClassVar[int] = 3
    # A document is `[CLS] S1 [SEP] S2 [SEP]`.
    has_segments: ClassVar[bool] = True
    kind: Literal["unilm"] = "unilm"
    bidirectional_rate: Fraction = 1 / 3
    """Share of rows with the bidirectional attention mask; the four shares sum to 1."""
    sequence_to_sequence_rate: Fraction = 1 / 3
    """Share of rows with the sequence-to-sequence attention mask."""
    left_to_right_rate: Fraction = 1 / 6
    """Share of rows with the left-to-right attention mask."""
    right_to_left_rate: Fraction = 1 / 6
    """Share of rows with the right-to-left attention mask."""
    ngram_rate: Fraction = 0.2
    """Share of selections that take a bigram or a trigram of pieces in place of one."""
    single_segments: bool = False
    """True if documents are `[CLS] S1 [SEP]` in rows of a one-directional mask (section 2.1)."""
    next_sentence: bool = False
    """True to learn also whether the second segment follows the first, in rows of the bidirectional mask
    (section 2.3)."""
    random_next_rate: Fraction = 0.5
    """Share of these pairs whose second segment comes from another document."""

    @pydantic.model_validator(mode="after")
    def _masks_sum_to_one(self) -> "UniLM":
        total = sum(self.mixture.values())
        if abs(total - 1.0) > 1e-6:
            raise ValueError(f"the rates of the four masks sum to {total:g}, not to 1")
        return self

    @property
    def mixture(self) -> dict[str, float]:
        """Rates by mask."""
        return {
            "bidirectional": self.bidirectional_rate,
            "sequence_to_sequence": self.sequence_to_sequence_rate,
            "left_to_right": self.left_to_right_rate,
            "right_to_left": self.right_to_left_rate,
        }

    @property
    def uses_negative(self) -> bool:  # type: ignore[override]
        """Random next sentences come from another row."""
        return self.next_sentence

    @property
    def trains_pooler(self) -> bool:  # type: ignore[override]
        """True if next sentences are predicted from the pooled `[CLS]`."""
        return self.next_sentence

    @property
    def loss_terms(self) -> tuple[Loss, ...]:  # type: ignore[override]
        """`mlm`, and `nsp` if asked."""
        return (MLM, NSP) if self.next_sentence else (MLM,)


AnyMasking = MaskedLM | SpanMasking | ReplacedTokenDetection | UniLM
