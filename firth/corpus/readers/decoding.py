"""Decoding of records into documents or rejections, by the keys that a recipe names."""

import datetime
import functools
import json
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from firth.corpus.documents.document import Document, document_id
from firth.corpus.documents.errors import UnreadableError
from firth.corpus.documents.rejection import BEGINNING_BYTES, Rejection
from firth.corpus.io.file_contents import RawRecord
from firth.corpus.io.source_files import SourceFile
from firth.recipes.corpus.sources import RecordSource, Source

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
Read = Callable[[Any, SourceFile], Iterator[Document | Rejection]]


class StatedFields(NamedTuple):
    """Fields that a record states about itself, empty where it does not.

    Attributes:
        id: Id of the record.
        uri: Address of the text.
        licence: Licence of the text.
        metadata: JSON object of further values that the recipe asks for.
    """

    id: str = ""
    uri: str = ""
    licence: str = ""
    metadata: str = ""


NO_FIELDS = StatedFields()


def decode_utf8(data: bytes) -> str:
    """Returns UTF-8 bytes as a string without a byte order mark."""
    try:
        return data.removeprefix(BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableError("invalid_utf8") from None


def check_unicode(text: str) -> str:
    """Returns a string, if it can be encoded as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise UnreadableError("unpaired_surrogate") from None
    return text


def check_text(text: str) -> str:
    r"""Returns a decoded text, if a document can have it.

    Example:

    >>> check_text(" \n")
    Traceback (most recent call last):
    firth.corpus.documents.errors.UnreadableError: empty
    """
    if not check_unicode(text).strip():
        raise UnreadableError("empty")
    return text


def decode_text(data: bytes) -> str:
    r"""Returns the text of UTF-8 bytes without a byte order mark.

    Raises:
        UnreadableError: `invalid_utf8`, or `empty` for nothing but white space.

    Example:

    >>> decode_text(b"\xef\xbb\xbfab")
    'ab'
    """
    return check_text(decode_utf8(data))


def make_document(source: Source, place: str, text: str, stated: StatedFields = NO_FIELDS) -> Document:
    """Returns the document at one place of a source.

    Its id is made from the source's name, the place, and the id that the record states. If the record states
    no licence or address, the document has the source's licence, and the place as its address.

    Example:

    >>> from firth.recipes.corpus.sources import TextSource
    >>> source = TextSource(kind="text", paths=("*.txt",), licence="CC0")
    >>> make_document(source, "a.txt", "Call me Ishmael.", StatedFields(uri="http://a/")).uri
    'http://a/'
    """
    return Document(
        id=document_id(source.name, place, stated.id),
        text=text,
        source=source.name,
        licence=stated.licence or source.licence,
        uri=stated.uri or place,
        metadata=stated.metadata,
    )


def reject(
    source: Source, file: str, line: int, reason: str, data: bytes, size: int | None = None
) -> Rejection:
    """Returns the rejection of a record, which keeps only the first bytes of it."""
    size = len(data) if size is None else size
    return Rejection(source.name, file, line, reason, size, data[:BEGINNING_BYTES])


def read_or_reject(
    read: Callable[[], tuple[str, StatedFields]],
    source: Source,
    file: str,
    record: RawRecord,
    place: str = "",
) -> Document | Rejection:
    """Returns the document of a record that a function reads, or the rejection of the record."""
    line, problem = record.number, record.problem
    if not problem:
        try:
            return make_document(source, place or (f"{file}#L{line}" if line else file), *read())
        except UnreadableError as error:
            problem = error.reason
    return reject(source, file, line, problem, record.data, record.size)


def reject_empty(read: Read) -> Read:
    """Returns a reader of files that also rejects a file without any record, for the reason `empty`."""

    @functools.wraps(read)
    def checked(source: Any, file: SourceFile) -> Iterator[Document | Rejection]:
        nothing = True
        for record in read(source, file):
            nothing = False
            yield record
        if nothing:
            yield reject(source, file.place, 0, "empty", b"")

    return checked


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
