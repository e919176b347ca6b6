from .formats import (
    FORMATS as FORMATS,
    format_of as format_of,
    read_file as read_file,
    read_split as read_split,
    split_file as split_file,
    split_files as split_files,
)
from .labels import (
    LABELS as LABELS,
    ChoiceLabels as ChoiceLabels,
    ClassLabels as ClassLabels,
    NumberLabels as NumberLabels,
    SpanLabels as SpanLabels,
    TagLabels as TagLabels,
    TextLabels as TextLabels,
)
from .records import (
    AnswerSpan as AnswerSpan,
    LabelledRecord as LabelledRecord,
    LabelledRecords as LabelledRecords,
    RefusedFileError as RefusedFileError,
    RejectedLine as RejectedLine,
    RejectedRecordError as RejectedRecordError,
)
from .row_format import read_columns as read_columns
