"""Readers of labelled files: published formats in the table `FORMATS`, and one's own by their columns."""

from firth.tasks.readers.columns import read_columns
from firth.tasks.readers.labels import (
    LABELS,
    ChoiceLabels,
    ClassLabels,
    NumberLabels,
    SpanLabels,
    TagLabels,
    TextLabels,
)
from firth.tasks.readers.records import (
    AnswerSpan,
    LabelledRecord,
    LabelledRecords,
    RefusedFileError,
    RejectedLine,
    RejectedRecordError,
)
from firth.tasks.readers.table import FORMATS, format_of, read_file, read_split, split_file, split_files

__all__ = [
    "FORMATS",
    "LABELS",
    "AnswerSpan",
    "ChoiceLabels",
    "ClassLabels",
    "LabelledRecord",
    "LabelledRecords",
    "NumberLabels",
    "RefusedFileError",
    "RejectedLine",
    "RejectedRecordError",
    "SpanLabels",
    "TagLabels",
    "TextLabels",
    "format_of",
    "read_columns",
    "read_file",
    "read_split",
    "split_file",
    "split_files",
]
