"""From the bytes of a record to a document, or to the reason why there is no document in it."""

from typing import NamedTuple

from firth.corpus.documents.document import Document, document_id
from firth.corpus.documents.rejection import BEGINNING_BYTES, Rejection
from firth.recipes.corpus.sources import Source

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Stated(NamedTuple):
    """What a record says of itself; empty where it says nothing."""

    id: str = ""
    uri: str = ""
    licence: str = ""


NOTHING = Stated()


def decode_text(data: bytes) -> tuple[str, str | None]:
    r"""Returns the text of UTF-8 bytes, and the reason of rejection if they are not UTF-8 or say nothing.

    A byte order mark is left out.

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
    r"""Returns the reason of rejection of a decoded text, if there is one.

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
    """Returns the document that stands at a place of a source: `path`, `path#L12`, `path#R3`.

    Its id is made from the source's name, the place and the id that the record states. Where the record
    states no licence or URI, they are the source's and the place.

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
    """Returns the rejection of a record that begins with `data` and is `size` bytes long."""
    size = len(data) if size is None else size
    return Rejection(source.name, file, line, reason, size, data[:BEGINNING_BYTES])
