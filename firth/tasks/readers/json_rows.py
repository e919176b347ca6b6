"""Rows of a file that is JSON as a whole: a list of objects, or questions in SQuAD's form."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from firth.tasks.readers.records import RejectedRecordError
from firth.tasks.readers.rows import values_of_object
from firth.tasks.readers.squad import IMPOSSIBLE, parsed, questions_of

_COLUMNS = ("id", "question", "context", "answers")


class JsonRows:
    """A list of objects, or questions on paragraphs as SQuAD has them, which are numbered from 1.

    Attributes:
        columns: Names of the columns of questions; None if each object names its own.
        id_column: Column of the ids of questions; empty if each object names its own.

    Raises:
        RefusedFileError: if the file is neither.
    """

    named_in: ClassVar[str] = "SQuAD's form"

    def __init__(self, path: str, lines: Iterable[str], header: Sequence[str] | None = None) -> None:
        root = parsed(path, "".join(lines))
        is_list = isinstance(root, list)
        self.columns: list[str] | None = None if is_list else [*_COLUMNS]
        self.id_column = "" if is_list else _COLUMNS[0]
        self._rows: Iterable[Any] = root if is_list else questions_of(path, root)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return enumerate(self._rows, 1)

    def values(self, row: Any) -> Mapping[str, Any]:
        """Returns the values of an object, or of a question, by name."""
        if self.columns is None:
            return values_of_object(row)
        context, question = row
        found = values_of_object(question)
        answers, is_impossible = found.get("answers"), found.get("is_impossible") is True
        if is_impossible and answers:
            raise RejectedRecordError(*IMPOSSIBLE)
        given = (found.get("id"), found.get("question"), context, answers or ([] if is_impossible else None))
        return dict(zip(_COLUMNS, given, strict=True))
