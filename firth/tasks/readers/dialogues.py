"""Dialogues in files: lists of messages, and instructions next to what answers them."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from firth.recipes.base.errors import suggest
from firth.recipes.tokenizers.chat_template import ASSISTANT, SPEAKERS, SYSTEM, USER, order_problem
from firth.tasks.readers.records import MESSAGES, RejectedRecordError, value_of
from firth.tasks.readers.text_files import checked_text

# Keys of a message.
_ROLE, _CONTENT = "role", "content"
# Columns that a dialogue is read from once its messages are taken apart.
_SPEAKERS = "role"


class ColumnLayout(NamedTuple):
    """The columns of a file that hold records.

    Attributes:
        texts: Column of each text by its role.
        label: Column of the label; empty for a file without labels.
        rows_of: Returns functions that each return the values of a record by column, out of those of a row;
            None if they are the same.
        columns: Columns that a table must have; None for those of texts and label.
    """

    texts: Mapping[str, str | tuple[str, ...]]
    label: str
    rows_of: Callable[[Mapping[str, Any]], Iterable[Callable[[], Mapping[str, Any]]]] | None = None
    columns: tuple[str, ...] | None = None


def layout_of(texts: Mapping[str, Any], label: str | None) -> ColumnLayout:
    """Returns the columns of dialogues.

    Example:

    >>> layout = layout_of({"messages": "prompt"}, "completion")
    >>> (made,) = layout.rows_of({"prompt": "2 + 2?", "completion": "4"})
    >>> made()["messages"], made()["role"]
    (['2 + 2?', '4'], ['user', 'assistant'])
    """
    asked = str(texts[MESSAGES])
    columns = (asked, *([label] if label else []))

    def read(values: Mapping[str, Any]) -> Mapping[str, Any]:
        messages = _messages(value_of(values, asked), asked, USER if label else "")
        if label:
            messages += _messages(value_of(values, label), label, ASSISTANT)
        speakers, contents = zip(*messages, strict=True)
        return {**values, MESSAGES: list(contents), _SPEAKERS: list(speakers)}

    def rows_of(values: Mapping[str, Any]) -> Iterable[Callable[[], Mapping[str, Any]]]:
        return [functools.partial(read, values)]

    return ColumnLayout({MESSAGES: MESSAGES}, _SPEAKERS, rows_of, columns)


def prompt_of_messages(value: Any, column: str, with_reply: bool = False) -> dict[str, Any]:
    """Returns the prompt of a dialogue: `messages`, turns of the user and replies to them, and `system`.

    Args:
        with_reply: Whether the last turn is a reply, which is kept, and not left out.

    Example:

    >>> said = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hi"}]
    >>> prompt_of_messages(said, "messages")
    {'messages': ('Hi',), 'system': 'Be short.'}
    """
    speakers, contents = zip(*_messages(value, column, USER), strict=True)
    if speakers[-1] == ASSISTANT and not with_reply:
        speakers, contents = speakers[:-1], contents[:-1]
    if not speakers or (problem := order_problem(speakers, asks=not with_reply)):
        said = problem if speakers else "nobody but the assistant says anything"
        raise RejectedRecordError("roles_out_of_order", said)
    has_system = speakers[0] == SYSTEM
    return {MESSAGES: contents[has_system:], SYSTEM: contents[0] if has_system else ""}


def check_speakers(speakers: Any) -> tuple[str, ...]:
    """Returns the speakers of a dialogue."""
    for speaker in speakers:
        if speaker not in SPEAKERS:
            raise RejectedRecordError(
                "unknown_role", f"unknown role {speaker!r}; {suggest(str(speaker), SPEAKERS)}"
            )
    if ASSISTANT not in speakers:
        raise RejectedRecordError("no_reply", "no message is of the assistant: there is nothing to learn")
    if problem := order_problem(speakers):
        raise RejectedRecordError("roles_out_of_order", problem)
    return tuple(speakers)


def _messages(value: Any, column: str, speaker: str) -> list[tuple[Any, str]]:
    """Returns speaker and text of each message; a text alone is of the given speaker, if there is one."""
    if speaker and isinstance(value, str):
        return [(speaker, checked_text(value, repr(column)))]
    if not isinstance(value, list):
        raise RejectedRecordError("not_a_list", f"{column!r} is {_told(value)}, not a list of messages")
    if not value:
        raise RejectedRecordError("empty_text", f"{column!r} is empty")
    return [_message(each, f"message {number} of {column!r}") for number, each in enumerate(value, 1)]


def _message(message: Any, name: str) -> tuple[Any, str]:
    if not isinstance(message, dict):
        raise RejectedRecordError("not_a_message", f"{name} is {_told(message)}, not an object")
    for key in (_ROLE, _CONTENT):
        if key not in message:
            raise RejectedRecordError("missing_key", f"{name} has no {key!r}; {suggest(key, message)}")
    return message[_ROLE], checked_text(message[_CONTENT], f"the content of {name}")


def _told(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
