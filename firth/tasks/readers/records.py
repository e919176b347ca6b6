"""Labelled records, and rejected ones by reason, file and line."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from firth.recipes.base.errors import suggest

# Roles of texts.
TEXT = "text"
PAIR = "pair"
NEGATIVE = "negative"
QUESTION = "question"
CONTEXT = "context"
ANSWER = "answer"
CHOICES = "choices"
WORDS = "words"
MESSAGES = "messages"
ROLES = (TEXT, PAIR, NEGATIVE, QUESTION, CONTEXT, ANSWER, CHOICES, WORDS, MESSAGES)


class RefusedFileError(ValueError):
    """A file that cannot be read as labelled data at all, or not without a guess."""


class RejectedRecordError(ValueError):
    """A record that cannot be read, while others of its file can.

    Args:
        reason: Reason, a name to count by.
        detail: What is wrong, in words.

    Attributes:
        reason: The same.
        detail: The same.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def value_of(values: Mapping[str, Any], column: str) -> Any:
    """Returns the value of a column of a record, which must have it."""
    if column not in values:
        raise RejectedRecordError("missing_key", f"there is no {column!r}; {suggest(column, values)}")
    return values[column]


class AnswerSpan(NamedTuple):
    """A right answer that is a part of a text.

    Attributes:
        text: The answer.
        start: Place of its first character in the text.
    """

    text: str
    start: int


# Class or target text; number; place of a choice; tags of words, speakers of messages, or right answers; None
# if there is no label.
Label = str | float | int | tuple[str, ...] | tuple[AnswerSpan, ...] | None


@dataclasses.dataclass(frozen=True)
class LabelledRecord:
    """An example of a task, with its label.

    Attributes:
        id: Id of the record, different from the others of its file; its line if the file has no ids.
        texts: Texts by their role, one of `ROLES`; a tuple for choices, words and messages.
        label: Name of the class, or the text to write; number of a regression; place of the right choice;
            tag of each word; speaker of each message; right answers, empty if the text has no answer. None if
            the record has no label.
        file: Path of the file.
        line: Line that the record begins in, from 1; in SQuAD's files the number of the question.
        source: Name of its source, where records of several are together; empty otherwise.
    """

    id: str
    texts: Mapping[str, str | tuple[str, ...]]
    label: Label
    file: str
    line: int
    source: str = dataclasses.field(default="", repr=False)


class RejectedLine(NamedTuple):
    """A record that was left out.

    Attributes:
        reason: Reason, a name to count by.
        file: Path of the file.
        line: Line that the record begins in, from 1; in SQuAD's files the number of the question.
        detail: What is wrong, in words.
    """

    reason: str
    file: str
    line: int
    detail: str


# What is read of a line: its record, or a function for each of its several records.
Read = Callable[[], "LabelledRecord | Iterable[Read]"]


@dataclasses.dataclass
class LabelledRecords:
    """The records of a file, and what was rejected. Each record is in one of the two.

    Attributes:
        file: Path of the file.
        records: Records in the file's order.
        rejected: What was left out.
        labels: Names of the classes in their order; None if labels are not classes.
    """

    file: str
    records: list[LabelledRecord] = dataclasses.field(default_factory=list)
    rejected: list[RejectedLine] = dataclasses.field(default_factory=list)
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._lines_of_ids: dict[str, int] = {}

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of rejected records by reason."""
        return dict(Counter(each.reason for each in self.rejected))

    def take(self, line: int, read: Read) -> None:
        """Adds the records of a line, or what is wrong with it: the one place where records are rejected.

        Args:
            line: Number of the line.
            read: Returns the record of the line, or functions that each return one of its records: one that
                is rejected does not take the others with it.
        """
        try:
            made = read()
            if not isinstance(made, LabelledRecord):
                for each in made:
                    self.take(line, each)
                return
            self._check_id(made)
            self.records.append(made)
        except RejectedRecordError as error:
            self.rejected.append(RejectedLine(error.reason, self.file, line, error.detail))

    def _check_id(self, record: LabelledRecord) -> None:
        check_utf8(record.id, "the id")
        if record.id in self._lines_of_ids:
            first = self._lines_of_ids[record.id]
            raise RejectedRecordError("duplicate_id", f"the id {record.id!r} is that of line {first} too")
        self._lines_of_ids[record.id] = record.line

    def check_any(self) -> None:
        """Refuses a file of which nothing is left.

        Raises:
            RefusedFileError: if there is no record.
        """
        if not self.records and self.rejected:
            first = self.rejected[0]
            count = len(self.rejected)
            raise RefusedFileError(
                f"{self.file}: none of {count} records can be read; {first.file}:{first.line}: {first.detail}"
            )
        if not self.records:
            raise RefusedFileError(f"{self.file}: there are no records")


def check_utf8(text: str, name: str) -> str:
    """Returns a text that can be written as UTF-8."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise RejectedRecordError("not_utf8", f"{name} is not UTF-8") from error
    return text
