"""Chat templates, which a tokenizer keeps: the text around each turn of a dialogue."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Union

import pydantic

from firth.recipes.base.recipe_type import Config

SYSTEM, USER, ASSISTANT = SPEAKERS = ("system", "user", "assistant")


class WrittenText(Config):
    """Ordinary text, which is joined to the texts next to it before they become pieces."""

    stops: ClassVar[bool] = False
    """True if a reply may end with it."""

    text: Annotated[str, pydantic.Field(min_length=1)]
    """The text."""


class NamedPiece(Config):
    """A special piece by its name."""

    stops: ClassVar[bool] = True
    """True if a reply may end with it."""

    piece: Annotated[str, pydantic.Field(min_length=1)]
    """Name of the piece, such as `<|im_start|>`."""
    or_text: bool = False
    """True if its name is written as ordinary text where the vocabulary lacks it. Without this, such a
    vocabulary is refused."""


class PieceOfRole(Config):
    """A special piece by its role in the tokenizer; nothing where no piece plays the role."""

    stops: ClassVar[bool] = True
    """True if a reply may end with it."""

    role: Literal["cls", "sep"]
    """Role: `cls` begins a text, and `sep` ends it."""


Part = Union[WrittenText, NamedPiece, PieceOfRole]
Parts = tuple[Part, ...]


class Turn(Config):
    """Parts around the text of a turn."""

    before: Parts = ()
    """Parts in front of it."""
    after: Parts = ()
    """Parts after it."""
    trims: bool = False
    """True if spaces and line ends around the text itself (those of ASCII) are left out."""


class ReplyTurn(Turn):
    """Text around a reply.

    A model is asked for a reply by what is `before` it, and learns to write the rest up to the end.
    """

    lead: str = ""
    """Text with which each reply begins, such as a space; it is written by the model."""
    end: Annotated[Parts, pydantic.Field(min_length=1)]
    """Parts after it that the model writes, and that end with a special piece: there it stops."""

    @pydantic.model_validator(mode="after")
    def _ends_with_a_piece(self) -> "ReplyTurn":
        if not self.end[-1].stops:
            raise ValueError("end: a reply ends with a special piece, where its writing stops; this is text")
        return self


class ChatTemplate(Config):
    """Text around the turns of a dialogue.

    Texts next to each other become pieces together, as if one had typed them; a reply begins with a piece of
    its own, as it does when a model writes it.
    """

    start: Parts = ()
    """Parts in front of the whole dialogue."""
    system: Turn = Turn()
    """Text around instructions for the whole dialogue."""
    user: Turn = Turn()
    """Text around a message of the user."""
    assistant: ReplyTurn
    """Text around a reply."""
    system_inside: bool = False
    """True if the instructions are inside the first turn of the user, after the text before that."""

    @property
    def turns(self) -> Mapping[str, Turn]:
        """Turn of each speaker."""
        return {SYSTEM: self.system, USER: self.user, ASSISTANT: self.assistant}

    @property
    def parts(self) -> Iterator[Part]:
        """All parts."""
        yield from self.start
        for turn in self.turns.values():
            yield from (*turn.before, *turn.after)
        yield from self.assistant.end


def _chatml() -> ChatTemplate:
    start, end, line = (
        NamedPiece(piece="<|im_start|>"),
        NamedPiece(piece="<|im_end|>"),
        WrittenText(text="\n"),
    )
    turns = {who: (start, WrittenText(text=f"{who}\n")) for who in SPEAKERS}
    return ChatTemplate(
        system=Turn(before=turns[SYSTEM], after=(end, line)),
        user=Turn(before=turns[USER], after=(end, line)),
        assistant=ReplyTurn(before=turns[ASSISTANT], end=(end,), after=(line,)),
    )


def _llama_2() -> ChatTemplate:
    return ChatTemplate(
        system=Turn(before=(WrittenText(text="<<SYS>>\n"),), after=(WrittenText(text="\n<</SYS>>\n\n"),)),
        user=Turn(
            before=(PieceOfRole(role="cls"), WrittenText(text="[INST] ")),
            after=(WrittenText(text=" [/INST]"),),
            trims=True,
        ),
        assistant=ReplyTurn(lead=" ", end=(WrittenText(text=" "), PieceOfRole(role="sep")), trims=True),
        system_inside=True,
    )


def _llama_3() -> ChatTemplate:
    first, last = NamedPiece(piece="<|start_header_id|>"), NamedPiece(piece="<|end_header_id|>")
    end = (NamedPiece(piece="<|eot_id|>"),)
    turns = {who: (first, WrittenText(text=who), last, WrittenText(text="\n\n")) for who in SPEAKERS}
    return ChatTemplate(
        start=(NamedPiece(piece="<|begin_of_text|>"),),
        system=Turn(before=turns[SYSTEM], after=end, trims=True),
        user=Turn(before=turns[USER], after=end, trims=True),
        assistant=ReplyTurn(before=turns[ASSISTANT], end=end, trims=True),
    )


def _plain() -> ChatTemplate:
    line = WrittenText(text="\n")
    return ChatTemplate(
        start=(PieceOfRole(role="cls"),),
        system=Turn(after=(line,), trims=True),
        user=Turn(before=(WrittenText(text="User: "),), after=(line,), trims=True),
        assistant=ReplyTurn(
            before=(WrittenText(text="Assistant:"),),
            lead=" ",
            end=(PieceOfRole(role="sep"),),
            after=(line,),
            trims=True,
        ),
    )


TemplateName = Literal["chatml", "llama_2", "llama_3", "plain"]
# ChatML of OpenAI, as Qwen and others write it; those that were published with Llama 2 and Llama 3; and one
# that needs no special pieces but those that begin and end a text.
TEMPLATES: dict[str, ChatTemplate] = {
    "chatml": _chatml(),
    "llama_2": _llama_2(),
    "llama_3": _llama_3(),
    "plain": _plain(),
}


def order_problem(speakers: Sequence[str], asks: bool = False) -> str:
    """Returns the problem with the order of a dialogue's speakers; empty for none.

    Example:

    >>> order_problem(["system", "user", "assistant"]), order_problem(["user"], asks=True)
    ('', '')
    >>> order_problem(["user", "user", "assistant"])
    'turn 2 is of the user, and after the user comes the assistant'
    """
    turns = list(speakers[1:] if tuple(speakers[:1]) == (SYSTEM,) else speakers)
    first = len(speakers) - len(turns)
    for number, speaker in enumerate(turns):
        due = (USER, ASSISTANT)[number % 2]
        if speaker != due:
            before = f"after the {turns[number - 1]} comes" if number else "a dialogue begins with"
            return f"turn {first + number + 1} is of the {speaker}, and {before} the {due}"
    if not turns:
        return "there are no turns"
    if asks and turns[-1] != USER:
        return "the last turn is a reply, and only what the user says is answered"
    if not asks and turns[-1] != ASSISTANT:
        return "the last turn has no reply"
    return ""
