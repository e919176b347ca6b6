"""Decoding of records, and the documents or rejections made of them."""

from typing import NamedTuple

from firth.corpus.documents.document import Document, document_id
from firth.corpus.documents.rejection import BEGINNING_BYTES, Rejection
from firth.recipes.corpus.sources import Source

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Stated(NamedTuple):
    """What a record states about itself. A field is empty if the record does not state it.

    Attributes:
        id: Id of the record.
        uri: Address of the text.
        licence: Licence of the text.
    """

    id: str = ""
    uri: str = ""
    licence: str = ""


NOTHING = Stated()


def decode_text(data: bytes) -> tuple[str, str | None]:
    r"""Returns the text of UTF-8 bytes without a byte order mark, and the reason of rejection or None.

    The reasons are `invalid_utf8` and `empty`, for nothing but white space.

    Args:
        data: The bytes.

    Example:

    >>> decode_text(b"\xef\xbb\xbfab"), decode_text(b"\xff"), decode_text(b" \n")
    (('ab', None), ('', 'invalid_utf8'), (' \n', 'empty'))
    """
    try:
        text = data.removeprefix(BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError:
        return "", "invalid_utf8"
    return text, problem_of_text(text)


def problem_of_text(text: str) -> str | None:
    r"""Returns the reason of rejection of a decoded text, `unpaired_surrogate` or `empty`, or None.

    Args:
        text: The text.

    Example:

    >>> problem_of_text("ab"), problem_of_text("\ud800"), problem_of_text(" \n")
    (None, 'unpaired_surrogate', 'empty')
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "unpaired_surrogate"
    return None if text.strip() else "empty"


def make_document(source: Source, place: str, text: str, stated: Stated = NOTHING) -> Document:
    """Returns the document at one place of a source.

    Its id is made from the source's name, the place, and the id that the record states. If the record states
    no licence or address, the document has the source's licence, and the place as its address.

    Args:
        source: The source, as the recipe describes it.
        place: Path of the file, followed by `#L12` for a line or `#R3` for a record if it holds several
            documents.
        text: Text of the document.
        stated: What the record states about itself.

    Example:

    >>> from firth.recipes.corpus.sources import TextSource
    >>> source = TextSource(kind="text", paths=("*.txt",), licence="CC0")
    >>> make_document(source, "a.txt", "Call me Ishmael.", Stated(uri="http://a/")).uri
    'http://a/'
    """
    return Document(
        id=document_id(source.name, place, stated.id),
        text=text,
        source=source.name,
        licence=stated.licence or source.licence,
        uri=stated.uri or place,
    )


def reject(
    source: Source, file: str, line: int, reason: str, data: bytes, size: int | None = None
) -> Rejection:
    """Returns the rejection of a record, which keeps only the first bytes of it.

    Args:
        source: The source, as the recipe describes it.
        file: Path of the file with the record.
        line: Number of the record's first line or of the record, from 1; 0 for the whole file.
        reason: Reason of rejection, such as `malformed_json`.
        data: The record, or the beginning of it.
        size: Length of the record in bytes; None if `data` is the whole record.
    """
    size = len(data) if size is None else size
    return Rejection(source.name, file, line, reason, size, data[:BEGINNING_BYTES])
