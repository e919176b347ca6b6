"""Texts and records of Python: lists, dicts, tables and datasets, read in one way."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from firth.recipes.base.errors import suggest

TEXT = "text"
LABEL = "label"


def is_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Returns true for the path of a file, or a pattern of paths."""
    return isinstance(data, str | os.PathLike)


def is_table(data: Any) -> bool:
    """Returns true for a DataFrame, and for a table of `datasets`."""
    return hasattr(data, "columns") or hasattr(data, "column_names")


def checked_texts(texts: Any, name: str = "texts") -> list[str]:
    """Returns texts as a list.

    Raises:
        TypeError: for a value that is not a text, with its place.
        ValueError: if there is no text.

    Example:

    >>> checked_texts(["a", None])
    Traceback (most recent call last):
    ...
    TypeError: texts[1] is None; each text is a str
    """
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise TypeError(f"{name} is of the type {type(texts).__name__}; give a list of str")
    # TensorFlow keeps texts as bytes.
    found = plain_value(texts.numpy()) if hasattr(texts, "numpy") else list(texts)
    if not found:
        raise ValueError(f"{name} is empty; give at least one text")
    for place, each in enumerate(found):
        _check_text(each, f"{name}[{place}]")
    return found


def list_texts(data: Any, column: str = TEXT, name: str = "texts") -> list[str]:
    """Returns the texts of a list, a DataFrame, a `datasets.Dataset` or a `tf.data.Dataset`.

    Args:
        data: Texts, or rows with a text in a column.
        column: Name of the column.
        name: Name of the argument, for errors.

    Raises:
        TypeError: for a value that is not a text, with its place.
        ValueError: if there is no text, or no such column, with the nearest name.

    Example:

    >>> list_texts([{"text": "a"}, {"text": "b"}])
    ['a', 'b']
    """
    rows = list(_rows(data, name))
    if rows and isinstance(rows[0], Mapping):
        _check_column(rows[0], column, name)
        rows = [row.get(column) if isinstance(row, Mapping) else row for row in rows]
    return checked_texts(rows, name)


def list_records(
    data: Any, columns: Sequence[str] | Mapping[str, str], name: str = "train"
) -> list[dict[str, Any]]:
    """Returns rows as dicts with the given columns and their others, fit for JSON.

    A pair is a text and its label.

    Args:
        data: A list of dicts or of pairs, a DataFrame, a `datasets.Dataset` or a `tf.data.Dataset`.
        columns: Columns that each row needs: those of the texts first, and that of the label last. They may
            have names of the arguments that choose them, for errors.
        name: Name of the argument, for errors.

    Raises:
        TypeError: for a row that is not a dict.
        ValueError: if there is no row, no such column, with the nearest name, or a value is missing.

    Example:

    >>> list_records([("a", 1)], ["text", "label"])
    [{'text': 'a', 'label': 1}]
    >>> list_records([{"txt": "a", "label": 1}], ["text", "label"])
    Traceback (most recent call last):
    ...
    ValueError: train has no column 'text'; did you mean txt?
    """
    arguments = columns if isinstance(columns, Mapping) else {}
    records = []
    for place, row in enumerate(_rows(data, name)):
        if isinstance(row, tuple) and len(row) == len(columns):
            row = dict(zip(columns, row))
        if not isinstance(row, Mapping):
            raise TypeError(
                f"{name}[{place}] is of the type {type(row).__name__}; each record is a dict, or a tuple of "
                f"{' and '.join(columns)}, as zip(texts, labels) gives"
            )
        for column in columns:
            _check_column(row, column, name, arguments.get(column, ""))
        record = {str(key): plain_value(value) for key, value in row.items()}
        for column in columns:
            if record[column] is None or record[column] != record[column]:
                raise ValueError(f"{name}[{place}]: {column!r} is {record[column]}; each record needs one")
        records.append(record)
    if not records:
        raise ValueError(f"{name} is empty; give at least one record")
    return records


def list_rows(data: Any, name: str) -> list[Any]:
    """Returns the texts or the rows of data in one of the forms that `list_texts` reads.

    Raises:
        TypeError: for data in another form.
        ValueError: if there is no row.
    """
    rows = list(_rows(data, name))
    if not rows:
        raise ValueError(f"{name} is empty; give at least one text")
    return rows


def check_labels(labels: Any, texts: Sequence[Any]) -> None:
    """Passes if there are as many labels as texts."""
    if len(labels) != len(texts):
        raise ValueError(f"y has {len(labels)} labels for {len(texts)} texts")


def plain_value(value: Any) -> Any:
    """Returns a value of numpy or TensorFlow as Python has it.

    Example:

    >>> import numpy as np
    >>> plain_value(np.array([1, 2])), plain_value(b"a")
    ([1, 2], 'a')
    """
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, list | tuple):
        return [plain_value(each) for each in value]
    return plain_value(value.tolist()) if hasattr(value, "tolist") else value


def _rows(data: Any, name: str) -> Iterator[Any]:
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        yield from data.to_dict("records")
    elif hasattr(data, "as_numpy_iterator"):
        yield from map(_decoded, _one_by_one(data).as_numpy_iterator())
    elif isinstance(data, Mapping):
        if splits := [each for each, values in data.items() if is_table(values)]:
            raise ValueError(f"{name} holds the splits {', '.join(map(repr, splits))}; give one of them")
        # Columns, as pandas and datasets take them.
        counts = {column: len(values) for column, values in data.items()}
        if len({*counts.values()}) > 1:
            found = ", ".join(f"{column!r} has {count}" for column, count in counts.items())
            raise ValueError(f"the columns of {name} differ in length: {found}")
        yield from (dict(zip(data, row)) for row in zip(*data.values(), strict=True))
    elif hasattr(data, "column_names"):
        yield from _named_classes(data)
    elif isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise TypeError(
            f"{name} is of the type {type(data).__name__}; give a list, a DataFrame, a datasets.Dataset, a "
            "tf.data.Dataset, or a path"
        )
    else:
        yield from plain_value(data.numpy()) if hasattr(data, "numpy") else data


def _named_classes(dataset: Any) -> Iterator[Any]:
    """Yields the rows of a `datasets.Dataset`, the names of its classes instead of their numbers."""
    named = {}
    for column, kind in (dataset.features or {}).items():
        # Lists of classes, such as tags, hold their kind.
        kind = getattr(kind, "feature", kind)
        if hasattr(kind, "int2str"):
            named[column] = kind.names
    for row in dataset:
        if not isinstance(row, Mapping):
            yield row
            continue
        yield {
            **row,
            **{column: _class_names(row[column], named[column]) for column in named if column in row},
        }


def _class_names(value: Any, names: Sequence[str]) -> Any:
    value = plain_value(value)
    if isinstance(value, list):
        return [_class_names(each, names) for each in value]
    # `datasets` writes -1 for a label that is not known.
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else None


def _one_by_one(dataset: Any) -> Any:
    """Returns a `tf.data.Dataset` without batches: those of which each part has a first axis."""
    spec = dataset.element_spec
    parts = spec.values() if isinstance(spec, Mapping) else spec if isinstance(spec, tuple) else [spec]
    return dataset.unbatch() if all(each.shape.rank for each in parts) else dataset


def _decoded(element: Any) -> Any:
    if isinstance(element, Mapping):
        return {key: plain_value(value) for key, value in element.items()}
    return tuple(map(plain_value, element)) if isinstance(element, tuple) else plain_value(element)


def _check_column(row: Mapping[str, Any], column: str, name: str, argument: str = "") -> None:
    if column not in row:
        hint = f" ({argument}= names the column)" if argument else ""
        raise ValueError(f"{name} has no column {column!r}; {suggest(column, list(map(str, row)))}{hint}")


def _check_text(value: Any, place: str) -> None:
    if isinstance(value, bytes):
        raise TypeError(f"{place} is bytes; decode it first, as .decode('utf-8') does")
    if not isinstance(value, str):
        said = "None" if value is None else f"of the type {type(value).__name__}"
        raise TypeError(f"{place} is {said}; each text is a str")
