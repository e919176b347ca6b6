"""Texts to write: summaries (CNN/Daily Mail, XSum) and translations (Multi30k)."""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from firth import storage
from firth.tasks.readers.labels import TextLabels
from firth.tasks.readers.records import TEXT, LabelledRecord, LabelledRecords, RefusedFileError
from firth.tasks.readers.row_format import RowFormat
from firth.tasks.readers.rows import CsvRows
from firth.tasks.readers.text_files import checked_text, numbered_lines, text_of

_ROUGE = ("rouge_lsum", "rouge_1", "rouge_2", "rouge_l")


def _summaries(title: str, files: Mapping[str, tuple[str, ...]]) -> RowFormat:
    return RowFormat(
        title, CsvRows, {TEXT: "article"}, TextLabels(), "highlights", files, _ROUGE, id_columns=("id",)
    )


@dataclasses.dataclass(frozen=True)
class ParallelFormat:
    """A format of two files of the same number of lines, of which one translates the other line by line.

    Attributes:
        title: Name of the data set.
        files: Names of the file of each split that is read; the first that is there is.
        source: Ending of that file.
        target: Ending, in its place, of the file of the texts to write.
        scores: Names of the scores that are published of it.
        folder: Folder that the files are usually in.
        labels: Kind of the labels.
        roles: Role of the texts of a record.
        unlabelled: No splits; all have translations.
    """

    labels: ClassVar[TextLabels] = TextLabels()
    roles: ClassVar[tuple[str, ...]] = (TEXT,)
    unlabelled: ClassVar[frozenset[str]] = frozenset()

    title: str
    files: Mapping[str, tuple[str, ...]]
    source: str
    target: str
    scores: tuple[str, ...] = ("bleu",)
    folder: str = ""

    @property
    def texts(self) -> Mapping[str, str]:
        """The ending of the file of each text, by its role."""
        return {TEXT: self.source}

    def partner_of(self, path: str) -> str:
        """Returns the file of the texts to write that go with a file."""
        stem, ending, rest = path.rpartition(self.source)
        if not ending or rest not in ("", ".gz"):
            raise RefusedFileError(f"{path}: the name of such a file ends with {self.source}")
        return f"{stem}{self.target}{rest}"

    def read(self, path: str, split: str, *, labelled: bool) -> LabelledRecords:
        """Returns the records of two files. A pair of which a line is empty is rejected.

        Raises:
            RefusedFileError: if the other file is not there or has another number of lines, so that no line
                is known to belong to another, or no record can be read.
        """
        lines = _lines(path)
        targets = self._targets(path, len(lines)) if labelled else [None] * len(lines)
        found = LabelledRecords(path)
        for number, (line, target) in enumerate(zip(lines, targets, strict=True), 1):
            found.take(number, lambda: self._record(path, number, line, target))  # noqa: B023
        found.check_any()
        return found

    def _targets(self, path: str, count: int) -> list[str]:
        partner = self.partner_of(path)
        if not storage.exists(partner):
            raise RefusedFileError(f"{partner}: there is no such file, which goes with {path}")
        lines = _lines(partner)
        if len(lines) != count:
            raise RefusedFileError(f"{partner}: it has {len(lines)} lines, and {path} has {count}")
        return lines

    def _record(self, path: str, number: int, line: str, target: str | None) -> LabelledRecord:
        texts = {TEXT: checked_text(line, repr(self.source))}
        label = None if target is None else self.labels.read(target, texts)
        return LabelledRecord(str(number), texts, label, path, number)


def _lines(path: str) -> list[str]:
    lines = [line for _, line in numbered_lines(text_of(path))]
    return lines[:-1] if lines[-1:] == [""] else lines


TEXTS: dict[str, RowFormat | ParallelFormat] = {
    "cnn_dailymail": _summaries(
        "CNN/Daily Mail",
        {"train": ("train.csv", "train_200.csv"), "dev": ("validation.csv",), "test": ("test.csv",)},
    ),
    "xsum": _summaries(
        "XSum", {"train": ("train.csv", "xsum.csv"), "dev": ("validation.csv",), "test": ("test.csv",)}
    ),
    "multi30k": ParallelFormat(
        "Multi30k, English to German",
        {"train": ("train.en",), "dev": ("val.en",), "test": ("test_2016_flickr.en",)},
        ".en",
        ".de",
    ),
}
