"""The kinds of rows by the ending of a file's name."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from firth.recipes.base.errors import suggest
from firth.recipes.base.tag_schemes import is_scheme_of_labels
from firth.tasks.readers.conll import Lines, is_document, sentences_of
from firth.tasks.readers.records import RefusedFileError, RejectedRecordError
from firth.tasks.readers.rows import (
    CsvRows,
    JsonlRows,
    QuotedTsvRows,
    TsvRows,
    UnquotedTsvRows,
    values_of_object,
)
from firth.tasks.readers.squad import IMPOSSIBLE, parsed, questions_of
from firth.tasks.readers.text_files import split_at_spaces

_COLUMNS_SENTENCE_ROWS = ("words", "tags")
_COMMENT = "#"


class _Columns(NamedTuple):
    """The columns of a file: their number, the places of word and tag; and whether lines are numbered."""

    size: int
    word: int
    tag: int
    is_numbered: bool = False


class ConllRows:
    """Sentences with an empty line after each; a line is a word, further columns, and its tag.

    Cells are between tabs if the first line has one, and between spaces otherwise. Every line has as many as
    the first. Tags are in the last column that holds those of a scheme such as `B-PER`, or else in the last.
    Where the first column numbers the words of each sentence, the word is in the second one. Lines that
    begin with `#` and have other cells than words do are comments, as `# id 7` or `# sent_id = 7`.

    Attributes:
        columns: `words` and `tags`; `words` alone if lines are words.
    """

    named_in: ClassVar[str] = "a file of tagged words"
    id_column: ClassVar[str] = ""

    def __init__(self, path: str, lines: Iterable[str], header: Sequence[str] | None = None) -> None:
        found = [each for each in sentences_of("".join(lines)) if not is_document(each)]
        own = [line for sentence in found for _, line in sentence if not line.startswith(_COMMENT)]
        self._has_tabs = "\t" in (own[0] if own else "")
        cells = [self._cells(line) for line in own]
        self._places = self._places_of([each for each in cells if len(each) == len(cells[0])])
        self._tags = {each[self._places.tag] for each in cells if len(each) == self._places.size}
        self._has_scheme = is_scheme_of_labels(self._tags)
        self._sentences = [kept for each in found if (kept := self._without_comments(each))]
        self.columns: list[str] | None = [*_COLUMNS_SENTENCE_ROWS][: 1 + (self._places.size > 1)]

    def _cells(self, line: str) -> list[str]:
        return line.rstrip(" ").split("\t") if self._has_tabs else split_at_spaces(line)

    def _places_of(self, cells: Sequence[Sequence[str]]) -> _Columns:
        """Returns the columns of a file, from the cells of its words."""
        count = len(cells[0]) if cells else 1
        is_numbered = count > 2 and _are_numbers([each[0] for each in cells])
        word = int(is_numbered)
        # CoNLL-U's ranges have no tags.
        cells = [each for each in cells if not is_numbered or each[0].isdecimal()]
        tags = (
            place
            for place in range(count - 1, word, -1)
            if is_scheme_of_labels(each[place] for each in cells)
        )
        return _Columns(count, word, next(tags, count - 1), is_numbered)

    def _without_comments(self, lines: Lines) -> Lines:
        return [(number, line) for number, line in lines if not self._is_comment(line)]

    def _is_comment(self, line: str) -> bool:
        """Returns whether a line is none of a word: a word may be `#` itself, and then has a tag."""
        if not line.startswith(_COMMENT):
            return False
        cells = self._cells(line)
        if len(cells) != self._places.size:
            return True
        tag = cells[self._places.tag]
        is_tag = self._has_scheme and is_scheme_of_labels([*self._tags, tag])
        return tag not in self._tags and not is_tag

    def __iter__(self) -> Iterator[tuple[int, Lines]]:
        return ((lines[0][0], lines) for lines in self._sentences)

    def values(self, row: Lines) -> Mapping[str, Any]:
        """Returns the words and the tags of a sentence, a list each."""
        rows = []
        for number, line in row:
            cells = self._cells(line)
            if len(cells) != self._places.size:
                raise RejectedRecordError(
                    "wrong_columns",
                    f"line {number} has {len(cells)} columns, not {self._places.size}: {line!r}",
                )
            # CoNLL-U's ranges and empty nodes are not words.
            if not self._places.is_numbered or cells[0].isdecimal():
                rows.append(cells)
        if not rows:
            raise RejectedRecordError("empty_text", "the sentence has no words")
        places = (self._places.word, self._places.tag)
        return {name: [cells[place] for cells in rows] for name, place in zip(_COLUMNS_SENTENCE_ROWS, places)}


class ConlluRows(ConllRows):
    """Sentences of Universal Dependencies: the word is in the second of ten columns, its tag in the fourth.

    Attributes:
        columns: `words` and `tags`.
    """

    def _places_of(self, cells: Sequence[Sequence[str]]) -> _Columns:
        return _Columns(10, 1, 3, is_numbered=True)


def _are_numbers(cells: Sequence[str]) -> bool:
    """Returns whether cells count the words of sentences: most are numbers, 1 among the most frequent."""
    counts = Counter(each for each in cells if each.isdecimal())
    return 2 * counts.total() > len(cells) and counts["1"] == max(counts.values())


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


Rows = TsvRows | CsvRows | JsonlRows | JsonRows | ConllRows
ROWS: dict[str, type[Rows]] = {
    ".tsv": UnquotedTsvRows,
    ".csv": CsvRows,
    ".jsonl": JsonlRows,
    ".json": JsonRows,
    ".conll": ConllRows,
    ".conllu": ConlluRows,
    ".iob2": ConllRows,
    ".bio": ConllRows,
}

# The rows of a tsv, by `quoted`: whether its cells may be in quotation marks, None if that is not known.
TSV: dict[bool | None, type[Rows]] = {None: UnquotedTsvRows, True: QuotedTsvRows, False: TsvRows}


def rows_of(path: str, quoted: bool | None = None) -> type[Rows]:
    """Returns how the rows of a file are written, by its ending.

    Raises:
        RefusedFileError: if the ending is not known, with the nearest.
    """
    rows = ROWS[ending_of(path, ROWS)]
    return TSV[quoted] if rows is TSV[None] else rows


def ending_of(path: str, endings: dict[str, Any]) -> str:
    """Returns the ending of a file's name, in small letters and without that of gzip."""
    ending = os.path.splitext(path.removesuffix(".gz"))[1].lower()
    if ending not in endings:
        raise RefusedFileError(f"{path}: the ending {ending!r} is unknown; {suggest(ending, endings)}")
    return ending
