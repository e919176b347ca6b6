"""How the texts of a labelled record are laid out, and which states of it an answer is read from."""

from typing import Annotated, ClassVar, Literal, Union

import pydantic

from firth.recipes.base.recipe_type import Config

# States of a record: the first, the last, or the mean of those of its texts.
Pooling = Literal["first", "last", "mean"]


class Form(Config):
    """The base of all forms. Special tokens are said by their roles: `cls` is the tokenizer's `cls_id`.

    Attributes:
        before: The special tokens in front of the first text.
        between: The special tokens between two texts.
        after: The special tokens after the last text.
        has_segments: Whether its features hold segment ids.
        has_bias: Whether a head that reads one state of it has a bias.
        architectures: The models that read it; see `firth.recipes.models.facts`.
    """

    before: ClassVar[tuple[str, ...]] = ("cls",)
    between: ClassVar[tuple[str, ...]] = ("sep",)
    after: ClassVar[tuple[str, ...]] = ("sep",)
    has_segments: ClassVar[bool] = False
    has_bias: ClassVar[bool] = True
    architectures: ClassVar[tuple[str, ...]] = ()

    @property
    def tells_texts(self) -> bool:
        """Whether the second text has segment ids of its own."""
        return False

    @property
    def orders(self) -> int:
        """The number of orders in which two texts are read: 2 for a form that reads them both ways."""
        return 1

    @classmethod
    def reading_as(cls, pooling: str, tells_segments: bool) -> "Form":
        """Returns the form for a model.

        Args:
            pooling: How vectors of texts are pooled, as `export.pooling` says it.
            tells_segments: Whether the model tells segments of a text.
        """
        del pooling, tells_segments
        return cls()

    def special_tokens(self, texts: int) -> int:
        """Returns the number of special tokens of a record.

        Args:
            texts: Number of its texts, 1 or 2.
        """
        return len(self.before) + (texts - 1) * len(self.between) + len(self.after)


class BERTForm(Form):
    """`[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]` (Devlin et al. 2018, section 4).

    Attributes:
        pooling: `first` reads `[CLS]` through the pooler; `mean` reads the mean over all tokens.
        segments: True if the second text has segment ids of its own; RoBERTa has one segment only.
    """

    has_segments: ClassVar[bool] = True
    architectures: ClassVar[tuple[str, ...]] = ("encoder", "two_streams")

    kind: Literal["bert"] = "bert"
    pooling: Literal["first", "mean"] = "first"
    segments: bool = True

    @property
    def tells_texts(self) -> bool:
        """Whether the second text has segment ids of its own."""
        return self.segments

    @classmethod
    def reading_as(cls, pooling: str, tells_segments: bool) -> "BERTForm":
        """Returns the form for a model whose vectors of texts are means, or pooled at their start.

        Args:
            pooling: How vectors of texts are pooled, as `export.pooling` says it.
            tells_segments: Whether the model tells segments of a text.
        """
        return cls(pooling="mean" if pooling.startswith("mean") else "first", segments=tells_segments)


class GPTForm(Form):
    """`[START] a [EXTRACT]` or `[START] a [DELIM] b [EXTRACT]`, read at `[EXTRACT]` (Radford et al. 2018,
    section 3.3).

    `[CLS]` starts a text, and `[SEP]` stands for both of the others: pre-training has seen both.

    Attributes:
        pooling: `last` reads `[EXTRACT]`.
        both_orders: True if two texts, of which neither comes first, are read in both orders, and the sum of
            the two states of `[EXTRACT]` is what the head reads, as for similarity in the paper.
    """

    architectures: ClassVar[tuple[str, ...]] = ("decoder",)

    kind: Literal["gpt"] = "gpt"
    pooling: Literal["last"] = "last"
    both_orders: bool = False

    @property
    def orders(self) -> int:
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
    architectures: ClassVar[tuple[str, ...]] = ("decoder",)

    kind: Literal["last_token"] = "last_token"
    pooling: Literal["last"] = "last"


AnyForm = Annotated[Union[BERTForm, GPTForm, LastTokenForm], pydantic.Field(discriminator="kind")]
