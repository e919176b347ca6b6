"""How the texts of a task whose answer is written are laid out, for an encoder and a decoder or one stack."""

from typing import Annotated, ClassVar, Literal, Union

import pydantic

from firth.recipes.tasks.forms import Form


class TextForm(Form):
    """The base of the forms in which a model reads a text, the input, and writes another, the target."""

    before: ClassVar[tuple[str, ...]] = ()
    """The special tokens in front of the input."""
    between: ClassVar[tuple[str, ...]] = ()
    target_start: ClassVar[tuple[str, ...]] = ()
    """The special tokens that a decoder has read before it writes; empty where the input stands in front of
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
