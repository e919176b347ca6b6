"""The text of a record and what it states about itself, by the keys that the recipe names."""

from collections.abc import Mapping
from typing import Any

from firth.corpus.readers.decoding import NOTHING, Stated, decode_text, problem_of_text
from firth.recipes.corpus.sources import RecordSource


def read_fields(source: RecordSource, record: Mapping[str, Any]) -> tuple[str, Stated, str | None]:
    r"""Returns a record's text, what it states about itself, and the reason of rejection or None.

    The reasons are `missing_text_key`, `text_not_a_string`, `empty`, `invalid_utf8` and `unpaired_surrogate`;
    and `id_not_a_string`, `uri_not_a_string` and `licence_not_a_string` for values that are neither strings
    nor integers.

    Args:
        source: The source, which names the keys.
        record: The record. Strings may also be bytes in UTF-8.

    Example:

    >>> from firth.recipes.corpus.sources import JsonlSource
    >>> source = JsonlSource(kind="jsonl", paths=("*",), uri_key="metadata.url", licence_key="licence")
    >>> read_fields(source, {"text": "Hi.", "metadata": {"url": "http://a/"}})
    ('Hi.', Stated(id='', uri='http://a/', licence=''), None)
    >>> [read_fields(source, {"text": text})[2] for text in (1, " ", b"\xff")], read_fields(source, {})[2]
    (['text_not_a_string', 'empty', 'invalid_utf8'], 'missing_text_key')
    """
    value = look_up(record, source.text_key)
    if value is None and source.text_key not in record:
        return "", NOTHING, "missing_text_key"
    if not isinstance(value, str | bytes):
        return "", NOTHING, "text_not_a_string"
    text, problem = _decode(value)
    if problem:
        return "", NOTHING, problem
    stated = []
    for name, key in zip(Stated._fields, (source.id_key, source.uri_key, source.licence_key)):
        value = look_up(record, key) if key else None
        if not isinstance(value, str | bytes | int | None):
            return "", NOTHING, f"{name}_not_a_string"
        said, problem = _decode(str(value) if isinstance(value, int) else value or "")
        if problem not in (None, "empty"):
            return "", NOTHING, problem
        stated.append(said.strip())
    return text, Stated(*stated), None


def _decode(value: str | bytes) -> tuple[str, str | None]:
    return decode_text(value) if isinstance(value, bytes) else (value, problem_of_text(value))


def look_up(record: Mapping[str, Any], key: str) -> Any:
    """Returns the value of a key, or None if the record does not have the key.

    Args:
        record: The record, whose values may be records.
        key: A key of the record, or several keys with dots between them: `a.b` is the key `b` of the record's
            `a`.

    Example:

    >>> look_up({"a": {"b": 1}}, "a.b"), look_up({"a.b": 2}, "a.b"), look_up({"a": 3}, "a.b")
    (1, 2, None)
    """
    if key in record:
        return record[key]
    value: Any = record
    for part in key.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value
