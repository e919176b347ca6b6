"""Rows of one's own files of tagged words, a word on a line, as CoNLL's."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from firth.tasks.readers.conll import Lines, TagFormat, is_document, sentences_of
from firth.tasks.readers.labels import TagLabels

_COLUMNS = ("words", "tags")


class ConllRows:
    """Sentences with an empty line after each; a line is a word, further columns, and last its tag.

    Cells are between tabs if the first line has one, and between spaces otherwise. Every line has as many as
    the first.

    Args:
        path: Path of the file, which makes no difference.
        lines: Its lines.
        header: None, since no line names the columns.

    Attributes:
        columns: `words` and `tags`; `words` alone if lines are words.
    """

    named_in: ClassVar[str] = "a file of tagged words"
    id_column: ClassVar[str] = ""
    has_comments: ClassVar[bool] = False

    def __init__(self, path: str, lines: Iterable[str], header: Sequence[str] | None = None) -> None:
        sentences = [each for each in sentences_of("".join(lines)) if not is_document(each)]
        self._sentences = sentences
        first = next((line for lines in sentences for _, line in lines if not self._is_comment(line)), "")
        separator = "\t" if "\t" in first else None
        count = len(first.split(separator))
        self._format = self._format_of(count, separator)
        self.columns: list[str] | None = [*_COLUMNS][: 1 + (count > 1)]

    def _is_comment(self, line: str) -> bool:
        return self.has_comments and line.startswith("#")

    def _format_of(self, columns: int, separator: str | None) -> TagFormat:
        return TagFormat("tagged words", columns, 0, columns - 1, TagLabels(), {}, separator)

    def __iter__(self) -> Iterator[tuple[int, Lines]]:
        return ((lines[0][0], lines) for lines in self._sentences)

    def values(self, row: Lines) -> Mapping[str, Any]:
        """Returns the words and the tags of a sentence, a list each.

        Args:
            row: Lines of a sentence.

        Raises:
            RejectedRecordError: if a line has more or fewer cells than the first line of the file.
        """
        rows = self._format.cells_of(row, labelled=True)
        places = (self._format.word, self._format.tag)
        return {name: [cells[place] for cells in rows] for name, place in zip(_COLUMNS, places)}


class ConlluRows(ConllRows):
    """Sentences of Universal Dependencies: the word is in the second of ten columns, its tag in the fourth.

    Args:
        path: Path of the file, which makes no difference.
        lines: Its lines, of which those that begin with `#` are comments.
        header: None, since no line names the columns.

    Attributes:
        columns: `words` and `tags`.
    """

    has_comments: ClassVar[bool] = True

    def _format_of(self, columns: int, separator: str | None) -> TagFormat:
        return TagFormat("tagged words", 10, 1, 3, TagLabels(), {}, "\t", has_comments=True)
