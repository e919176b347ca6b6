"""The text and the stated fields of a record, by the keys that the recipe names."""

import datetime
import json
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from firth.corpus.documents.errors import UnreadableError
from firth.corpus.readers.decoding import StatedFields, check_text, check_unicode, decode_utf8
from firth.recipes.corpus.sources import RecordSource


def read_fields(source: RecordSource, record: Mapping[str, Any]) -> tuple[str, StatedFields]:
    r"""Returns a record's text and the fields that it states about itself.

    Raises:
        UnreadableError: `missing_text_key`, `text_not_a_string`, `empty`, `invalid_utf8` or
            `unpaired_surrogate`; `id_not_a_string`, `uri_not_a_string` or `licence_not_a_string` for a value
            that is not a string or a number. NaN counts as missing: pandas makes 7.0 and NaN of a column of
            numbers of which some are missing.

    Example:

    >>> from firth.recipes.corpus.sources import JsonlSource
    >>> source = JsonlSource(kind="jsonl", paths=("*",), uri_key="metadata.url", licence_key="licence")
    >>> read_fields(source, {"text": "Hi.", "metadata": {"url": "http://a/"}})
    ('Hi.', StatedFields(id='', uri='http://a/', licence='', metadata=''))
    >>> read_fields(source, {"text": 1})
    Traceback (most recent call last):
    firth.corpus.documents.errors.UnreadableError: text_not_a_string
    """
    value = look_up(record, source.text_key)
    if value is None and source.text_key not in record:
        raise UnreadableError("missing_text_key")
    if not isinstance(value, str | bytes):
        raise UnreadableError("text_not_a_string")
    text = check_text(_decode(value))
    stated = {}
    for name, key in zip(StatedFields._fields, (source.id_key, source.uri_key, source.licence_key)):
        value = look_up(record, key) if key else None
        value = _number_text(value) if isinstance(value, numbers.Number) else value
        if not isinstance(value, str | bytes | None):
            raise UnreadableError(f"{name}_not_a_string")
        stated[name] = _decode(value or "").strip()
    return text, StatedFields(metadata=metadata_of(source.metadata_keys, record), **stated)


def metadata_of(keys: Sequence[str], record: Mapping[str, Any]) -> str:
    """Returns the JSON object of the values that a record has under keys; empty without keys.

    Example:

    >>> metadata_of(("a.b", "c"), {"a": {"b": [1, None]}, "d": 2})
    '{"a.b": [1, null]}'
    """
    found = {key: value for key in keys if (value := look_up(record, key)) is not None}
    try:
        return check_unicode(json.dumps(found, ensure_ascii=False, default=_plain)) if keys else ""
    except (TypeError, ValueError):
        raise UnreadableError("metadata_not_json") from None


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return decode_utf8(value)
    if isinstance(value, datetime.date | datetime.time | numbers.Number):
        return str(value)
    raise TypeError


def _number_text(value: Any) -> str:
    if value != value:  # NaN
        return ""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value)


def _decode(value: str | bytes) -> str:
    return decode_utf8(value) if isinstance(value, bytes) else check_unicode(value)


def look_up(record: Mapping[str, Any], key: str) -> Any:
    """Returns the value of a key, or None if the record does not have the key.

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
