"""Kinds of labels, and the reading of each from a file."""

import contextlib
import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from firth.recipes.base.errors import suggest
from firth.recipes.base.tag_schemes import is_scheme_of_labels
from firth.tasks.readers.dialogues import ColumnLayout, check_speakers, layout_of
from firth.tasks.readers.records import (
    CHOICES,
    CONTEXT,
    WORDS,
    AnswerSpan,
    Label,
    LabelledRecord,
    RejectedRecordError,
)
from firth.tasks.readers.text_files import checked_text, split_at_spaces

Texts = Mapping[str, str | tuple[str, ...]]
NO_ANSWER = "there is no answer, and task.unanswerable is false"
_ANSWER_KEYS = ("text", "answer_start")
# Fewest words of a file whose tags can be distinguished from copies and from other values.
_FEW_COPIES, _FEW_TAGS = 4, 40
# The greatest number of float32, in which labels are learned.
MOST = (2 - 2**-23) * 2.0**127


def label_text(value: Any) -> str:
    """Returns the name of a class, as a file has it: `1` is '1', true is 'true'.

    Example:

    >>> [label_text(value) for value in (" yes ", 1, True)]
    ['yes', '1', 'true']
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        raise RejectedRecordError("no_label", "there is no label")
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        raise RejectedRecordError("unknown_label", f"a label is a text or a number, not {value!r}")
    return checked_text(str(value).strip(), "the label")


class _Labels:
    """Base of labels, which accepts the labels of any file as a whole."""

    def problem_of(self, records: Sequence[LabelledRecord]) -> str:
        """Returns why the labels of a file are not of this kind; empty if they are.

        Args:
            records: Records of the file.
        """
        return ""


class _NoClasses(_Labels):
    """Labels that are not classes, so that they have no names."""

    names = None


@dataclasses.dataclass(frozen=True)
class ClassLabels(_Labels):
    """One of several classes.

    Attributes:
        task: Kind of the tasks with such labels.
        names: Names of the classes, in the order of their numbers; none if any name will do.
        positive: The class that F1 is of; None if it is of all.
        no_gold: Label of records whose annotators did not agree, which are left out; None without such.
    """

    task: ClassVar[str] = "classification"

    names: tuple[str, ...] = ()
    positive: str | None = None
    no_gold: str | None = None

    def read(self, value: Any, texts: Texts) -> Label:
        """Returns the name of the class.

        Args:
            value: Cell of a table or value in JSON.
            texts: Texts of the record.

        Raises:
            RejectedRecordError: if it is not one of the classes, with the nearest.
        """
        name = label_text(value)
        if self.no_gold is not None and name == self.no_gold:
            raise RejectedRecordError("no_gold_label", f"the label is {name!r}: annotators did not agree")
        if self.names and name not in self.names:
            raise RejectedRecordError("unknown_label", f"unknown label {name!r}; {suggest(name, self.names)}")
        return name


@dataclasses.dataclass(frozen=True)
class NumberLabels(_NoClasses):
    """A number.

    Attributes:
        task: Kind of the tasks with such labels.
        low: Least number; that of float32 if there is no bound.
        high: Greatest number; that of float32 if there is no bound.
    """

    task: ClassVar[str] = "regression"

    low: float = -MOST
    high: float = MOST

    def read(self, value: Any, texts: Texts) -> Label:
        """Returns the number.

        Args:
            value: Cell of a table or value in JSON.
            texts: Texts of the record.

        Raises:
            RejectedRecordError: if it is not a finite number in the range.
        """
        text = label_text(value)
        try:
            # Python takes 1_000 for a number.
            number = math.nan if "_" in text else float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise RejectedRecordError("label_not_a_number", f"the label {text!r} is not a number")
        if not self.low <= number <= self.high:
            raise RejectedRecordError(
                "label_out_of_range", f"the label {text} is not between {self.low} and {self.high}"
            )
        return number


@dataclasses.dataclass(frozen=True)
class ChoiceLabels(_NoClasses):
    """The place of one of the record's choices, from 0.

    Attributes:
        task: Kind of the tasks with such labels.
    """

    task: ClassVar[str] = "choice"

    def read(self, value: Any, texts: Texts) -> Label:
        """Returns the place of the right choice.

        Args:
            value: Cell of a table or value in JSON.
            texts: Texts of the record, with choices.

        Raises:
            RejectedRecordError: if it is not the place of a choice.
        """
        text, choices = label_text(value), texts[CHOICES]
        if not text.isdecimal() or int(text) >= len(choices):
            raise RejectedRecordError(
                "unknown_label", f"{text!r} is not the place of one of {len(choices)} choices"
            )
        return int(text)


@dataclasses.dataclass(frozen=True)
class TagLabels(_Labels):
    """A tag of each word.

    Attributes:
        task: Kind of the tasks with such labels.
        names: The tags; none if any will do.
    """

    task: ClassVar[str] = "tagging"

    names: tuple[str, ...] = ()

    def read(self, value: Any, texts: Texts) -> Label:
        """Returns the tags.

        Args:
            value: List of tags, or tags between spaces.
            texts: Texts of the record, with words.

        Raises:
            RejectedRecordError: if there are more or fewer tags than words, or a tag is unknown.
        """
        if not isinstance(value, str | list):
            raise RejectedRecordError("no_label", f"{value!r} is not a list of tags")
        tags = tuple(map(label_text, split_at_spaces(value) if isinstance(value, str) else value))
        if len(tags) != len(texts[WORDS]):
            raise RejectedRecordError(
                "unequal_words_and_tags", f"there are {len(texts[WORDS])} words, but {len(tags)} tags"
            )
        for tag in tags:
            if self.names and tag not in self.names:
                raise RejectedRecordError("unknown_label", f"unknown tag {tag!r}; {suggest(tag, self.names)}")
        return tags

    def problem_of(self, records: Sequence[LabelledRecord]) -> str:
        """Returns why the values next to words cannot be tags; empty if they can, and for published tags.

        Tags of a scheme such as `B-PER` can be. Others cannot if most are numbers or the words themselves, or
        if most differ among many words.

        Args:
            records: Records of the file.
        """
        labels = [(each.texts[WORDS], each.label) for each in records if isinstance(each.label, tuple)]
        pairs = [pair for words, own in labels for pair in zip(words, own, strict=False)]
        tags = [str(tag) for _, tag in pairs]
        different = sorted(set(tags))
        if self.names or not tags or is_scheme_of_labels(different):
            return ""
        copies = sum(_is_number(str(tag)) or str(tag).casefold() == word.casefold() for word, tag in pairs)
        is_copied = 2 * copies > len(tags) >= _FEW_COPIES
        if not is_copied and not (2 * len(different) > len(tags) >= _FEW_TAGS):
            return ""
        shown = ", ".join(map(repr, different[:3]))
        return (
            f"what is read as tags looks like none: {len(different):,} different values of {len(tags):,} "
            f"words, such as {shown}"
        )


@dataclasses.dataclass(frozen=True)
class TextLabels(_NoClasses):
    """A text to write, or several right ones.

    Attributes:
        task: Kind of the tasks with such labels.
    """

    task: ClassVar[str] = "text_to_text"

    def read(self, value: Any, texts: Texts) -> Label:
        """Returns the text, or a tuple of texts for a list.

        Args:
            value: Text, or list of texts.
            texts: Texts of the record.

        Raises:
            RejectedRecordError: if a text is empty, or the list has no text.
        """
        if not isinstance(value, list):
            return checked_text(value, "the target")
        if not value:
            raise RejectedRecordError("no_label", "there is no right text")
        return tuple(checked_text(each, "the target") for each in value)


@dataclasses.dataclass(frozen=True)
class SpanLabels(_NoClasses):
    """Right answers that are parts of the context, none if it has no answer.

    Attributes:
        task: Kind of the tasks with such labels.
        unanswerable: Whether a context may have no answer; if not, a record without one is rejected.
    """

    task: ClassVar[str] = "span"

    unanswerable: bool = True

    def read(self, value: Any, texts: Texts) -> Label:
        """Returns the answers.

        Args:
            value: List of objects with `text` and `answer_start`, or an object with a list of each; the same
                as JSON in a text; or a text, or a list of texts, each of which is in the context once.
            texts: Texts of the record, with a context.

        Raises:
            RejectedRecordError: if there is no list, an answer is not at its place in the context, a text
                without a place is not there exactly once, or the answer that has to be there is missing.
        """
        context = str(texts[CONTEXT])
        if isinstance(value, str):
            value = _answers_of_text(value, context)
        if isinstance(value, dict):
            value = _answers_of_lists(value)
        if not isinstance(value, list):
            said = "there are no answers" if value is None else f"{value!r} is not a list of answers"
            raise RejectedRecordError("no_label", said)
        if not value and not self.unanswerable:
            raise RejectedRecordError("no_label", NO_ANSWER)
        placed = (_placed(each, context) if isinstance(each, str) else each for each in value)
        return tuple(_answer(each, context) for each in placed)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).lstrip("+-").isdecimal()


def _answers_of_text(value: str, context: str) -> Any:
    """Returns the value of JSON, or the one place of an answer."""
    if value.lstrip().startswith(("[", "{")):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(value)
    return [_placed(label_text(value), context)]


def _placed(text: str, context: str) -> dict[str, Any]:
    """Returns an answer with its one place.

    Raises:
        RejectedRecordError: if it is not in the context, or several times.
    """
    start = context.find(text)
    if start < 0:
        raise RejectedRecordError("answer_not_in_context", f"the answer {text!r} is not in the context")
    if context.find(text, start + 1) >= 0:
        detail = f"the answer {text!r} is in the context more than once; give its place"
        raise RejectedRecordError("answer_in_several_places", detail)
    return dict(zip(_ANSWER_KEYS, (text, start)))


def _answers_of_lists(value: Mapping[str, Any]) -> list[Any]:
    found, starts = (value.get(key) for key in _ANSWER_KEYS)
    if not isinstance(found, list) or not isinstance(starts, list) or len(found) != len(starts):
        raise RejectedRecordError("missing_key", f"there are no {' and '.join(_ANSWER_KEYS)} of equal length")
    return [dict(zip(_ANSWER_KEYS, each)) for each in zip(found, starts)]


def _answer(answer: Any, context: str) -> AnswerSpan:
    text, start = (answer.get(key) if isinstance(answer, dict) else None for key in _ANSWER_KEYS)
    if not isinstance(start, int) or isinstance(start, bool):
        raise RejectedRecordError(
            "missing_key", f"an answer has no 'answer_start' that is a number: {answer!r}"
        )
    checked = checked_text(text, "an answer")
    there = context[start : start + len(checked)] if start >= 0 else ""
    if there != checked:
        raise RejectedRecordError(
            "answer_not_at_offset", f"the answer {checked!r} is not at {start}; there is {there!r}"
        )
    return AnswerSpan(checked, start)


@dataclasses.dataclass(frozen=True)
class TurnLabels(_NoClasses):
    """The speaker of each message of a dialogue.

    Attributes:
        task: Kind of the tasks with such labels.
    """

    task: ClassVar[str] = "dialogue"

    def layout(self, texts: Mapping[str, Any], label: str | None) -> ColumnLayout:
        """Returns the columns of dialogues; see `firth.tasks.readers.dialogues.layout_of`."""
        return layout_of(texts, label)

    def read(self, value: Any, texts: Texts) -> Label:
        """Returns the speakers.

        Raises:
            RejectedRecordError: if a speaker is unknown, or they are in an order that no dialogue has.
        """
        return check_speakers(value)


AnyLabels = ClassLabels | NumberLabels | ChoiceLabels | TagLabels | TextLabels | SpanLabels | TurnLabels
LABELS: dict[str, type[AnyLabels]] = {
    "class": ClassLabels,
    "number": NumberLabels,
    "choice": ChoiceLabels,
    "tags": TagLabels,
    "text": TextLabels,
    "spans": SpanLabels,
    "turns": TurnLabels,
}
"""The types of labels, by the `label_type` of a task."""
