"""From the bytes of a record to a document, or to the reason why it is none."""

from firth.corpus.document import Document, document_id
from firth.corpus.rejection import Rejection, excerpt
from firth.recipes.sources import Source

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def decode_text(data: bytes) -> tuple[str, str | None]:
    r"""Returns the text of UTF-8 bytes, and the reason of rejection if they are none or say nothing.

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


def make_document(source: Source, uri: str, text: str) -> Document:
    """Returns the document that a source has at a URI."""
    return Document(document_id(source.name, uri), text, source.name, source.licence, uri)


def reject(
    source: Source, file: str, line: int, reason: str, data: bytes, size: int | None = None
) -> Rejection:
    """Returns the rejection of a record that begins with `data` and is `size` bytes long."""
    return Rejection(source.name, file, line, reason, len(data) if size is None else size, excerpt(data))
