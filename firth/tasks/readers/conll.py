"""Tagged words, one on a line: CoNLL-2000, CoNLL-2003, WNUT-17 and Universal Dependencies."""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from firth.tasks.readers.labels import TagLabels
from firth.tasks.readers.records import WORDS, LabelledRecord, LabelledRecords, RejectedRecordError
from firth.tasks.readers.text_files import checked_text, numbered_lines, text_of

_SENTENCE_ID = re.compile(r"# *sent_id *= *(.*)")
_DOCUMENT = "-DOCSTART-"

# Number of a line, and what it has.
Lines = list[tuple[int, str]]


def iob2_tags(*types: str) -> tuple[str, ...]:
    """Returns the tags of types of chunks in IOB2.

    Example:

    >>> iob2_tags("PER")
    ('O', 'B-PER', 'I-PER')
    """
    return ("O", *(f"{mark}-{name}" for name in types for mark in "BI"))


@dataclasses.dataclass(frozen=True)
class TagFormat:
    """A format of tagged words, with an empty line after each sentence.

    Attributes:
        title: Name of the data set.
        columns: Number of columns.
        word: Place of the column of words, from 0.
        tag: Place of the column of tags, from 0.
        labels: The tags.
        files: Names of the file of each split; the first that is there is read.
        separator: What is between columns.
        has_comments: Whether lines that begin with `#` are comments, which may name the sentence, and lines
            whose first column is not a whole number are not words (CoNLL-U's ranges and empty nodes).
        scores: Names of the scores that are published of it.
        folder: Folder that the files are usually in.
        roles: Role of the texts of a record.
        unlabelled: No splits; the test data of all have labels.
    """

    roles: ClassVar[tuple[str, ...]] = (WORDS,)
    unlabelled: ClassVar[frozenset[str]] = frozenset()

    title: str
    columns: int
    word: int
    tag: int
    labels: TagLabels
    files: Mapping[str, tuple[str, ...]]
    separator: str = " "
    has_comments: bool = False
    scores: tuple[str, ...] = ("entity_f1",)
    folder: str = ""

    def read(self, path: str, split: str, *, labelled: bool) -> LabelledRecords:
        """Returns the sentences of a file.

        Raises:
            RefusedFileError: if no sentence can be read.
        """
        found = LabelledRecords(path, labels=self.labels.names or None)
        for lines in sentences_of(text_of(path)):
            if not is_document(lines) and not all(self._is_comment(text) for _, text in lines):
                found.take(lines[0][0], lambda: self._sentence(lines, path, labelled))  # noqa: B023
        found.check_any()
        return found

    def _sentence(self, lines: Lines, path: str, labelled: bool) -> LabelledRecord:
        comments = [text for _, text in lines if self._is_comment(text)]
        rows = self._cells_of(lines, labelled=labelled)
        texts = {WORDS: tuple(checked_text(cells[self.word], "a word") for cells in rows)}
        label = self.labels.read([cells[self.tag] for cells in rows], texts) if labelled else None
        ids = [match[1] for text in comments if (match := _SENTENCE_ID.match(text))]
        return LabelledRecord(ids[0] if ids else str(lines[0][0]), texts, label, path, lines[0][0])

    def _cells_of(self, lines: Lines, *, labelled: bool) -> list[list[str]]:
        """Returns the cells of each word of a sentence."""
        rows = [self._cells(*each, labelled) for each in lines if not self._is_comment(each[1])]
        if self.has_comments:
            rows = [cells for cells in rows if cells[0].isdecimal()]
        if not rows:
            raise RejectedRecordError("empty_text", "the sentence has no words")
        return rows

    def _is_comment(self, line: str) -> bool:
        return self.has_comments and line.startswith("#")

    def _cells(self, number: int, line: str, labelled: bool) -> list[str]:
        cells = line.rstrip(" ").split(self.separator)
        least = self.columns if labelled else self.word + 1
        if not least <= len(cells) <= self.columns:
            raise RejectedRecordError(
                "wrong_columns", f"line {number} has {len(cells)} columns, not {self.columns}: {line!r}"
            )
        return cells


def is_document(lines: Lines) -> bool:
    """Returns whether lines are the mark of a new document, and no sentence."""
    return lines[0][1].startswith(_DOCUMENT)


def sentences_of(text: str) -> Iterator[Lines]:
    """Yields the lines of each sentence with their numbers."""
    lines: Lines = []
    for number, line in numbered_lines(text):
        if line.strip():
            lines.append((number, line))
        elif lines:
            yield lines
            lines = []
    if lines:
        yield lines


_CHUNKS = iob2_tags("NP", "VP", "PP", "ADVP", "SBAR", "ADJP", "PRT", "CONJP", "INTJ", "LST", "UCP")
_ENTITIES = iob2_tags("PER", "ORG", "LOC", "MISC")
_EMERGING = iob2_tags("corporation", "creative-work", "group", "location", "person", "product")
_PARTS_OF_SPEECH = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN"),
    *("PUNCT", "SCONJ", "SYM", "VERB", "X"),
)

CONLL: dict[str, TagFormat] = {
    "conll2000": TagFormat(
        "CoNLL-2000 chunks", 3, 0, 2, TagLabels(_CHUNKS), {"train": ("train.txt",), "test": ("test.txt",)}
    ),
    "conll2003": TagFormat(
        "CoNLL-2003 entities",
        *(4, 0, 3),
        TagLabels(_ENTITIES),
        {
            "train": ("train.txt", "eng.train"),
            "dev": ("valid.txt", "dev.txt", "eng.testa"),
            "test": ("test.txt", "eng.testb"),
        },
    ),
    "wnut17": TagFormat(
        "WNUT-17 emerging entities",
        *(2, 0, 1),
        TagLabels(_EMERGING),
        {
            "train": ("wnut17train.conll",),
            "dev": ("emerging.dev.conll",),
            "test": ("emerging.test.annotated",),
        },
        separator="\t",
    ),
    "ud_english_ewt": TagFormat(
        "Universal Dependencies, English EWT, parts of speech",
        *(10, 1, 3),
        TagLabels(_PARTS_OF_SPEECH),
        {
            "train": ("en_ewt-ud-train.conllu", "en_ewt-ud-train.assembled.conllu"),
            "dev": ("en_ewt-ud-dev.conllu",),
            "test": ("en_ewt-ud-test.conllu",),
        },
        separator="\t",
        has_comments=True,
        scores=("tag_accuracy",),
    ),
}
