"""Layouts of the texts of a labelled record, with the states that an answer is read from."""

import math
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Union

import pydantic

from firth.recipes.base.recipe_type import Config
from firth.recipes.goals.goal import CLS_SEGMENT


class Form(Config):
    """The base of all forms. Special tokens are named by their roles: `cls` is the tokenizer's `cls_id`."""

    before: ClassVar[tuple[str, ...]] = ("cls",)
    """The special tokens in front of the first text."""
    between: ClassVar[tuple[str, ...]] = ("sep",)
    """The special tokens between two texts."""
    after: ClassVar[tuple[str, ...]] = ("sep",)
    """The special tokens after the last text."""
    has_segments: ClassVar[bool] = False
    """True if its features hold segment ids."""
    last_segment: ClassVar[int | None] = None
    """The segment of the last token; None if it is that of the text before it."""
    summary_is_last: ClassVar[bool] = False
    """True if the token whose state represents a whole record is its last one, and not its first."""
    decoder_start: ClassVar[str] = ""
    """The special token that a decoder begins to read the same texts from; empty if none does."""
    encoder_alone: ClassVar[bool] = False
    """True if states are those of the encoder of a model with a decoder."""
    of_words: ClassVar[bool] = False
    """True if tokens are whole words, which are read by their characters."""
    heads: ClassVar[Mapping[str, str]] = {}
    """Heads that replace a task's own, keys of `firth.models.model_kinds.HEADS`; none by default."""
    method: ClassVar[str] = "full"
    """The method of a recipe that says none, a kind of `firth.recipes.tuning.methods`."""
    learning_rates: ClassVar[Mapping[float, float]] = {128: 3e-4, 256: 1e-4, math.inf: 5e-5}
    """Learning rates by the most width of a base, of those that Turc et al. 2019 ("Well-Read Students Learn
    Better", section 4.1) chose from: the highest for their Tiny, the next for Mini, BERT's own for wider."""
    has_bias: ClassVar[bool] = True
    """True if a head that reads one state of it has a bias."""
    architectures: ClassVar[tuple[str, ...]] = ()
    """The models that read it; see `firth.recipes.models.facts`."""
    separates_texts: ClassVar[bool] = False
    """True if the second text has segment ids of its own."""
    orders: ClassVar[int] = 1
    """The number of orders in which two texts are read: 2 for a form that reads them both ways."""
    pooler_of: ClassVar[str] = ""
    """The pooling whose state goes through a pooler, a layer of its own; empty for none."""

    @property
    def has_pooler(self) -> bool:
        """True if the state that an answer is read from goes through a pooler."""
        return bool(self.pooler_of) and getattr(self, "pooling", "") == self.pooler_of

    @classmethod
    def form_for(cls, pooling: str, separates_segments: bool, separators: int) -> "Form":
        """Returns the form for a model."""
        return cls()

    @classmethod
    def learning_rate_for(cls, width: int) -> float:
        """Returns the learning rate of a recipe that says none: the narrower the base, the higher.

        Example:

        >>> [Form.learning_rate_for(width) for width in (128, 256, 384, 768)]
        [0.0003, 0.0001, 5e-05, 5e-05]
        """
        return next(rate for most, rate in cls.learning_rates.items() if width <= most)

    def special_tokens(self, texts: int) -> int:
        """Returns the number of special tokens of a record."""
        return len(self.before) + (texts - 1) * len(self.between) + len(self.after)


class BERTForm(Form):
    """`[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]` (Devlin et al. 2018, section 4).

    RoBERTa reads `[CLS] a [SEP] [SEP] b [SEP]` (Liu et al. 2019, released code): two separators, and one
    segment.

    Example:

    >>> BERTForm().special_tokens(2), BERTForm(segments=False, separators=2).special_tokens(2)
    (3, 4)
    """

    has_segments: ClassVar[bool] = True
    architectures: ClassVar[tuple[str, ...]] = ("encoder",)
    pooler_of: ClassVar[str] = "first"

    kind: Literal["bert"] = "bert"
    pooling: Literal["first", "first_state", "mean"] = "first"
    """`first` reads `[CLS]` through the pooler; `first_state` reads its state as it is, as ELECTRA's released
    code does; `mean` reads the mean over all tokens."""
    segments: bool = True
    """True if the second text has segment ids of its own; RoBERTa has one segment only."""
    separators: Literal[1, 2] = 1
    """Number of separators between two texts."""

    @property
    def between(self) -> tuple[str, ...]:  # type: ignore[override]
        """The special tokens between two texts."""
        return ("sep",) * self.separators

    @property
    def separates_texts(self) -> bool:  # type: ignore[override]
        """True if the second text has segment ids of its own."""
        return self.segments

    @classmethod
    def form_for(cls, pooling: str, separates_segments: bool, separators: int) -> "BERTForm":
        """Returns the form for a model whose vectors of texts are means, or pooled at their start."""
        pooled = {"first": "first", "cls": "first", "first_state": "first_state"}.get(pooling, "mean")
        return cls.model_validate(
            {"pooling": pooled, "segments": separates_segments, "separators": separators}
        )


class XLNetForm(Form):
    """`a [SEP] [CLS]` or `a [SEP] b [SEP] [CLS]`, where `[CLS]` is a segment of its own (Yang et al. 2019,
    section 2.5 and its released code).
    """

    before: ClassVar[tuple[str, ...]] = ()
    after: ClassVar[tuple[str, ...]] = ("sep", "cls")
    has_segments: ClassVar[bool] = True
    last_segment: ClassVar[int | None] = CLS_SEGMENT
    summary_is_last: ClassVar[bool] = True
    architectures: ClassVar[tuple[str, ...]] = ("two_streams",)
    separates_texts: ClassVar[bool] = True
    pooler_of: ClassVar[str] = "last"

    kind: Literal["cls_last"] = "cls_last"
    pooling: Literal["last", "mean"] = "last"
    """`last` reads `[CLS]` through a pooler; `mean` reads the mean over all tokens."""

    @classmethod
    def form_for(cls, pooling: str, separates_segments: bool, separators: int) -> "XLNetForm":
        """Returns the form for a model whose vectors of texts are means, or pooled at `[CLS]`."""
        return cls(pooling="mean" if pooling.startswith("mean") else "last")


class GPTForm(Form):
    """`[START] a [EXTRACT]` or `[START] a [DELIM] b [EXTRACT]`, read at `[EXTRACT]` (Radford et al. 2018,
    section 3.3).

    `[CLS]` starts a text, and `[SEP]` replaces both of the others: pre-training has seen both.
    """

    architectures: ClassVar[tuple[str, ...]] = ("decoder",)
    summary_is_last: ClassVar[bool] = True

    kind: Literal["gpt"] = "gpt"
    pooling: Literal["last"] = "last"
    """`last` reads `[EXTRACT]`."""
    both_orders: bool = False
    """True if two texts, of which neither comes first, are read in both orders, and the sum of the two states
    of `[EXTRACT]` is what the head reads, as for similarity in the paper."""

    @property
    def orders(self) -> int:  # type: ignore[override]
        """The number of orders in which two texts are read."""
        return 2 if self.both_orders else 1


class LastTokenForm(Form):
    """`[CLS] a` or `[CLS] a [CLS] b`, read at the last token of the text: a classifier on a decoder.

    It has no special token that a decoder's pre-training has not read: `[CLS]` is what starts each of its
    documents (`<s>` of Llama, `<|endoftext|>` of GPT-2). As in the classifiers of transformers, the head has
    no bias.
    """

    between: ClassVar[tuple[str, ...]] = ("cls",)
    after: ClassVar[tuple[str, ...]] = ()
    has_bias: ClassVar[bool] = False
    summary_is_last: ClassVar[bool] = True
    architectures: ClassVar[tuple[str, ...]] = ("decoder",)

    kind: Literal["last_token"] = "last_token"
    pooling: Literal["last"] = "last"
    """`last` reads the last token."""


class BARTForm(Form):
    """`[CLS] a [SEP]` or `[CLS] a [SEP] [SEP] b [SEP]` for the encoder, and the same after a `[SEP]` for the
    decoder, without the last token; read where the decoder would write the last `[SEP]`, through the pooler
    (Lewis et al. 2019, section 3.1 and its released code).
    """

    between: ClassVar[tuple[str, ...]] = ("sep", "sep")
    decoder_start: ClassVar[str] = "sep"
    summary_is_last: ClassVar[bool] = True
    architectures: ClassVar[tuple[str, ...]] = ("encoder_decoder",)
    pooler_of: ClassVar[str] = "last"

    kind: Literal["both_sides"] = "both_sides"
    pooling: Literal["last"] = "last"
    """`last` reads the decoder's state at the last token."""


class EncoderForm(Form):
    """`a [SEP]` or `a [SEP] b [SEP]` for the encoder of T5 alone, read by the mean of its states.

    Ni et al. 2021, "Sentence-T5: Scalable Sentence Encoders from Pre-trained Text-to-Text Models", section 3,
    "encoder-only mean".
    """

    before: ClassVar[tuple[str, ...]] = ()
    encoder_alone: ClassVar[bool] = True
    architectures: ClassVar[tuple[str, ...]] = ("encoder_decoder",)

    kind: Literal["encoder_mean"] = "encoder_mean"
    pooling: Literal["mean"] = "mean"
    """`mean` reads the mean over all tokens."""


class ELMoForm(Form):
    """`<S> a </S>` and `<S> b </S>`, each text read alone; the layers of both are features of the task's own
    model (Peters et al. 2018, section 3.3).

    That model mixes the layers, and reads the words with LSTMs in both directions. A text is then the mean of
    its states, weighted by attention, and two are compared as in Conneau et al. 2017, section 3.2; tags are
    those of a conditional random field. The language model stays as it is unless the recipe's `method` says
    otherwise.
    """

    before: ClassVar[tuple[str, ...]] = ("bos",)
    between: ClassVar[tuple[str, ...]] = ("eos", "bos")
    after: ClassVar[tuple[str, ...]] = ("eos",)
    of_words: ClassVar[bool] = True
    heads: ClassVar[Mapping[str, str]] = {"pooled": "mixed_texts", "tokens": "mixed_tags"}
    method: ClassVar[str] = "head"
    # Its task's own model is untrained, as wide as the base is.
    learning_rates: ClassVar[Mapping[float, float]] = {math.inf: 1e-3}
    architectures: ClassVar[tuple[str, ...]] = ("both_directions",)

    kind: Literal["mixed_layers"] = "mixed_layers"
    pooling: Literal["attention"] = "attention"
    """`attention` reads the mean and the largest values over all tokens with weights that are learnt."""
    output_mix: bool = False
    """True if a second mix of the layers is put next to the states of the LSTMs."""
    layer_norm: bool = False
    """True if layers are normalised before they are mixed."""
    mix_dropout: Annotated[float, pydantic.Field(ge=0.0, le=0.99)] = 0.0
    """Share of the layers that is left out of a mix in training."""
    layers: Annotated[int, pydantic.Field(ge=1, le=100)] = 2
    """Number of LSTMs of each direction."""
    cells: Annotated[int, pydantic.Field(ge=1, le=2**16)] = 200
    """Number of cells of an LSTM, and width of its output."""


# Forms of tasks whose model reads each text from both sides.
AnyEncoderForm = Annotated[Union[BERTForm, XLNetForm], pydantic.Field(discriminator="kind")]
# Forms of tasks whose heads read the states of pieces, not the layers of words.
AnyTokenForm = Annotated[
    Union[BERTForm, XLNetForm, GPTForm, LastTokenForm, BARTForm, EncoderForm],
    pydantic.Field(discriminator="kind"),
]
AnyForm = Annotated[
    Union[BERTForm, XLNetForm, GPTForm, LastTokenForm, BARTForm, EncoderForm, ELMoForm],
    pydantic.Field(discriminator="kind"),
]


class TextForm(Form):
    """The base of the forms in which a model reads a text, the input, and writes another, the target."""

    before: ClassVar[tuple[str, ...]] = ()
    between: ClassVar[tuple[str, ...]] = ()
    target_start: ClassVar[tuple[str, ...]] = ()
    """The special tokens that a decoder has read before it writes; empty where the input is in front of
    the target."""
    target_after: ClassVar[tuple[str, ...]] = ("sep",)
    """The special tokens after the target."""
    has_own_decoder: ClassVar[bool] = True

    @property
    def target_before(self) -> tuple[str, ...]:
        """The special tokens that begin the target, and are predicted: all of the start but the first."""
        return self.target_start[1:]


class T5Form(TextForm):
    """The encoder reads `text [SEP]`, the decoder `[PAD] target`, with the labels `target [SEP]` (Raffel et
    al. 2019, section 2.4).
    """

    architectures: ClassVar[tuple[str, ...]] = ("encoder_decoder",)
    target_start: ClassVar[tuple[str, ...]] = ("pad",)

    kind: Literal["t5"] = "t5"


class BARTTextForm(TextForm):
    """The encoder reads `[CLS] text [SEP]`, the decoder `[SEP] [CLS] target`, with the labels
    `[CLS] target [SEP]` (Lewis et al. 2019, section 3.3).
    """

    before: ClassVar[tuple[str, ...]] = ("cls",)
    architectures: ClassVar[tuple[str, ...]] = ("encoder_decoder",)
    target_start: ClassVar[tuple[str, ...]] = ("sep", "cls")

    kind: Literal["bart_text"] = "bart_text"


class PrefixForm(TextForm):
    """One stack reads `[CLS] text [SEP] target`, and predicts `target [SEP]`: the text is a prefix (Raffel et
    al. 2019, section 3.2.1).

    Only the target is predicted. The tokens of the prefix see one another if the base's model was made for
    it.
    """

    before: ClassVar[tuple[str, ...]] = ("cls",)
    architectures: ClassVar[tuple[str, ...]] = ("decoder",)
    has_own_decoder: ClassVar[bool] = False

    kind: Literal["prefix"] = "prefix"


AnyTextForm = Annotated[Union[T5Form, BARTTextForm, PrefixForm], pydantic.Field(discriminator="kind")]
