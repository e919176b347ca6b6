"""Objectives that predict the tokens of a text one after another."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import pydantic

from firth.recipes.goals.goal import CLS_SEGMENT, TextFrame
from firth.recipes.models.blocks import Count
from firth.recipes.objectives.objective_base import Objective
from firth.recipes.tokenizers.tokenizer import Sequences

Architecture = Literal["encoder_decoder", "decoder"]


class CausalLM(Objective):
    """Predict each token from those before it (Radford et al. 2018, "GPT", section 3.1).

    A document is `[CLS] x1 ... xn` with the labels `x1 ... xn [SEP]`: its start and its end are a part of it.
    """

    model_architecture: ClassVar[str] = "decoder"
    heads: ClassVar[str] = "language_model"
    score_inputs: ClassVar[tuple[str, ...]] = ("text",)
    text_end: ClassVar[str] = "sep"

    other_names: ClassVar[tuple[str, ...]] = (
        "causal-language-modeling",
        "causal-language-modelling",
        "clm",
        "language-modeling",
        "language-modelling",
        "text-generation",
    )
    kind: Literal["causal_lm"] = "causal_lm"
    begin: Literal["cls", "none"] = "cls"
    """Special token that each document, prompt and scored text begins with: `cls`, or `none`, as GPT-2 reads
    texts. Without one, the first token is not predicted. An imported model has that of its published
    tokenizer."""

    @property
    def special_tokens(self) -> int:
        """Special tokens that are added to each document of a row: `[CLS]`, if it begins with it."""
        return len(self.text_frame.before)

    @property
    def text_frame(self) -> TextFrame:
        """`[CLS]` and the text, or the text alone."""
        return TextFrame(("cls",) if self.begin == "cls" else (), ())

    def with_start_tokens(self, roles: Sequence[str]) -> "CausalLM":
        """Returns the objective whose texts have some special tokens in front; this one, if none has.

        Args:
            roles: Roles of the tokens in front of a text.
        """
        known = {(): "none", ("cls",): "cls"}
        begin = known.get(tuple(roles), self.begin)
        return self.model_copy(update={"begin": begin})


class BidirectionalLM(Objective):
    """Predict each word from those before it, and from those after it (Peters et al. 2018, section 3.1).

    A document is `<S> x1 ... xn </S>`. The loss is the mean over the predictions of both directions.
    """

    model_architecture: ClassVar[str] = "both_directions"
    heads: ClassVar[str] = "bidirectional_lm"
    reads_words: ClassVar[bool] = True
    text_end: ClassVar[str] = "eos"

    # `<S>` and `</S>`.
    special_tokens: ClassVar[int] = 2
    # `<S>`, the words and `</S>`.
    text_frame: ClassVar[TextFrame] = TextFrame(("bos",), ("eos",))
    kind: Literal["bidirectional_lm"] = "bidirectional_lm"
    negatives: Count | None = 8192
    """Number of words drawn for the sampled softmax in training; null for the full softmax, which evaluation
    always uses."""

    @pydantic.model_validator(mode="after")
    def _sums_are_whole(self) -> "BidirectionalLM":
        if self.z_loss and self.negatives:
            raise ValueError("z_loss: a sampled softmax has no whole sum; it needs negatives: null")
        return self

    @property
    def prompt_frame(self) -> TextFrame:
        """`<S>` and the words."""
        return TextFrame(("bos",), ())


class PrefixLM(Objective):
    """Predict the rest of a document from its beginning (Raffel et al. 2019, section 3.2.1).

    The place of the split is uniform. Only the rest is predicted.
    """

    heads: ClassVar[str] = "language_model"
    score_inputs: ClassVar[tuple[str, ...]] = ("text", "target")
    text_end: ClassVar[str] = "sep"

    # `[CLS]`, or the `[SEP]` after a prefix that is a text by itself.
    special_tokens: ClassVar[int] = 1
    kind: Literal["prefix_lm"] = "prefix_lm"
    architecture: Architecture = "decoder"
    """Model that reads them: `encoder_decoder` gives the prefix to the encoder and the rest to the decoder;
    `decoder` gives both to one stack."""

    @property
    def model_architecture(self) -> str:  # type: ignore[override]
        """As the recipe says."""
        return self.architecture

    @property
    def text_frame(self) -> TextFrame:
        """`[CLS]` and the prefix; with an encoder, the prefix and `[SEP]`."""
        return TextFrame(after=()) if self.architecture == "decoder" else TextFrame(before=())

    def target_length(self, sequences: Sequences) -> int:
        """Returns the tokens of a decoder's row: as many as the row's, since a prefix may be short; 0 for one
        stack.

        Args:
            sequences: Rows of the recipe.
        """
        return sequences.length if self.architecture == "encoder_decoder" else 0


AnyLanguageModel = CausalLM | PrefixLM | BidirectionalLM


class PermutationLM(Objective):
    """Predict the last tokens of a random order from those before them (Yang et al. 2019, "XLNet").

    Each document is `A [SEP] B [SEP] [CLS]`, special tokens first in the order and never predicted.
    """

    model_architecture: ClassVar[str] = "two_streams"
    heads: ClassVar[str] = "permutation_lm"

    # Two `[SEP]` and `[CLS]`.
    special_tokens: ClassVar[int] = 3
    # The text, `[SEP]`, and `[CLS]` in a segment of its own.
    text_frame: ClassVar[TextFrame] = TextFrame((), ("sep", "cls"), last_segment=CLS_SEGMENT)
    kind: Literal["permutation_lm"] = "permutation_lm"
    predicted_fraction: float = pydantic.Field(default=1 / 6, gt=0.0, lt=1.0)
    """Share of maskable tokens that is predicted, 1/K in the paper."""
    max_predictions: Count = 22
    """Most predicted tokens of a row; no more are selected."""
    max_span: Count = 5
    """Longest span of predicted tokens; lengths are drawn uniformly from 1 to this."""

    @property
    def predictions(self) -> int:  # type: ignore[override]
        """The most predictions of a row."""
        return self.max_predictions
