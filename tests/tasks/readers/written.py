"""Files of the row formats, written by their descriptions."""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from firth.tasks.readers import FORMATS
from firth.tasks.readers.labels import ChoiceLabels, ClassLabels, NumberLabels
from firth.tasks.readers.row_format import RowFormat
from firth.tasks.readers.rows import CsvRows, TsvRows

# Formats whose rows are records; CSV, and those of SuperGLUE with rows within rows, have literals of their
# own.
ROW_FORMATS = {
    name: each
    for name, each in FORMATS.items()
    if isinstance(each, RowFormat) and each.rows_of is None and each.rows is not CsvRows
}
SPLITS = {name: next(iter(each.files)) for name, each in ROW_FORMATS.items()}


def columns_of(described: RowFormat, split: str) -> list[str]:
    """The columns of a split, the wanted ones with one before them that is not."""
    texts = [
        name for each in described.texts.values() for name in ((each,) if isinstance(each, str) else each)
    ]
    labelled = split not in described.unlabelled
    return list(described.headers.get(split) or ["unused", *texts, *([described.label_column] * labelled)])


def right_labels(described: RowFormat) -> list[Any]:
    match described.labels:
        case ClassLabels(names=names):
            return list(names)
        case NumberLabels(low=low, high=high):
            return [low, 2.75, high]
        case ChoiceLabels():
            return [0, 1]
    raise AssertionError(described.labels)


def row_of(described: RowFormat, split: str, texts: Sequence[str], label: Any) -> dict[str, str]:
    """Cells by column; `texts` fill the text columns in turn."""
    columns = columns_of(described, split)
    cells = dict.fromkeys(columns, "x")
    wanted = [each for each in columns_of(described, "") if each not in ("unused", described.label_column)]
    cells |= dict(zip(wanted, texts))
    return cells | ({described.label_column: str(label)} if described.label_column in columns else {})


def text_columns(described: RowFormat) -> list[str]:
    return [each for each in columns_of(described, "") if each not in ("unused", described.label_column)]


def line_of(described: RowFormat, row: Mapping[str, str]) -> str:
    if described.rows is TsvRows:
        return "\t".join(row.values())
    values: dict[str, Any] = {}
    for column, cell in row.items():
        outer, _, inner = column.partition(".")
        if inner:
            values.setdefault(outer, {})[inner] = cell
        else:
            values[column] = cell == "true" if cell in ("true", "false") else cell
    return json.dumps(values, ensure_ascii=False)


def header_of(described: RowFormat, split: str) -> list[str]:
    has_header = described.rows is TsvRows and split not in described.headers
    return ["\t".join(columns_of(described, split))] if has_header else []


def write(path: pathlib.Path, lines: Sequence[str], end: str = "\n") -> str:
    path.write_bytes("".join(line + end for line in lines).encode("utf-8", "surrogateescape"))
    return str(path)
