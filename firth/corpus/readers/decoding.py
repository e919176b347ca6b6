"""Decoding of records into documents or rejections."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from firth.corpus.documents.document import Document, document_id
from firth.corpus.documents.errors import UnreadableError
from firth.corpus.documents.rejection import BEGINNING_BYTES, Rejection
from firth.corpus.io.lines import RawRecord
from firth.corpus.io.source_files import SourceFile
from firth.recipes.corpus.sources import Source

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
