"""Questions on paragraphs with answers by their places: SQuAD 1.1 and 2.0."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from firth.recipes.base.errors import suggest
from firth.recipes.tasks.span import SCORES, SCORES_WITHOUT_ANSWER
from firth.tasks.readers.labels import SpanLabels, Texts
from firth.tasks.readers.records import (
    CONTEXT,
    QUESTION,
    Label,
    LabelledRecord,
    LabelledRecords,
    RefusedFileError,
    RejectedRecordError,
)
from firth.tasks.readers.text_files import checked_text, text_of

# Reason and detail for a question that is impossible and has an answer.
IMPOSSIBLE = ("answer_to_the_impossible", "is_impossible, but there is an answer")


@dataclasses.dataclass(frozen=True)
class SpanFormat:
    """A format of questions on paragraphs.

    Attributes:
        title: Name of the data set.
        files: Names of the file of each split; the first that is there is read.
        labels: Answers, of which a question may have none if `unanswerable`.
        scores: Names of the scores that are published of it.
        folder: Folder that the files are usually in.
        roles: Roles of the texts of a record.
        unlabelled: No splits; the test data are not published.
    """

    roles: ClassVar[tuple[str, ...]] = (QUESTION, CONTEXT)
    unlabelled: ClassVar[frozenset[str]] = frozenset()

    title: str
    files: Mapping[str, tuple[str, ...]]
    labels: SpanLabels
    scores: tuple[str, ...] = SCORES
    folder: str = ""

    def read(self, path: str, split: str, *, labelled: bool) -> LabelledRecords:
        """Returns the questions of a file.

        Raises:
            RefusedFileError: if the file is not JSON of this form, or no question can be read.
        """
        found = LabelledRecords(path)
        for number, (context, question) in enumerate(questions_of(path, parsed(path, text_of(path))), 1):
            found.take(number, lambda: self._record(context, question, path, number, labelled))  # noqa: B023
        found.check_any()
        return found

    def _record(self, context: Any, question: Any, path: str, number: int, labelled: bool) -> LabelledRecord:
        if not isinstance(question, dict) or not isinstance(question.get("id"), str):
            raise RejectedRecordError("missing_key", "the question has no 'id' that is a text")
        texts = {
            QUESTION: checked_text(question.get("question"), "the question"),
            CONTEXT: checked_text(context, "the paragraph"),
        }
        label = self._answers(question, texts) if labelled else None
        return LabelledRecord(question["id"], texts, label, path, number)

    def _answers(self, question: Mapping[str, Any], texts: Texts) -> Label:
        answers = SpanLabels().read(question.get("answers") or [], texts)
        is_impossible = self.labels.unanswerable and question.get("is_impossible") is True
        if is_impossible and answers:
            raise RejectedRecordError(*IMPOSSIBLE)
        if not is_impossible and not answers:
            raise RejectedRecordError("no_label", "there is no answer, and the question is not impossible")
        return answers


def parsed(path: str, text: str) -> Any:
    """Returns the value of a file of JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedFileError(f"{path}: not JSON: {error}") from error


def questions_of(path: str, root: Any) -> Iterator[tuple[Any, Any]]:
    """Yields the text of a paragraph with each of its questions.

    Raises:
        RefusedFileError: if it is not of SQuAD's form.
    """
    for article in _items(path, root, "data"):
        for paragraph in _items(path, article, "paragraphs"):
            for question in _items(path, paragraph, "qas"):
                yield paragraph.get("context"), question


def _items(path: str, holder: Any, key: str) -> list[Any]:
    found = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(found, list):
        near = f"; {suggest(key, holder)}" if isinstance(holder, dict) else ""
        raise RefusedFileError(f"{path}: there is no list {key!r} where SQuAD has one{near}")
    return found


SQUAD: dict[str, SpanFormat] = {
    "squad": SpanFormat(
        "SQuAD 1.1",
        {"train": ("train-v1.1.json",), "dev": ("dev-v1.1.json",)},
        SpanLabels(unanswerable=False),
    ),
    "squad2": SpanFormat(
        "SQuAD 2.0",
        {"train": ("train-v2.0.json",), "dev": ("dev-v2.0.json",)},
        SpanLabels(),
        scores=SCORES_WITHOUT_ANSWER,
    ),
}
