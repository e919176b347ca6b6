"""The web page in a response record of a web archive."""

import re
from typing import NamedTuple

from firth.corpus.documents.errors import UnreadableError
from firth.corpus.readers.archive_formats import HTTP_TYPE
from firth.corpus.readers.archive_records import ArchiveRecord
from firth.corpus.readers.header_fields import HEADER_END, HeaderFields
from firth.corpus.readers.http_bodies import decode_body, join_chunks

HTML_TYPES = ("text/html", "application/xhtml+xml")
PLAIN_TYPE = "text/plain"
# Responses of status 1xx and those of proxies come before the last one.
MAX_RESPONSES = 5
# The reason phrase may be missing, and so may the version.
_STATUS = re.compile(rb"\s*HTTP(?:/[\d.]+)?[ \t]+(\d{3})(?!\d)", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
# How a page without a stated type shows that it is HTML (the WHATWG's MIME sniffing, section 7.1).
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?:!--|"
    rb"(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>])",
    re.IGNORECASE,
)


class Page(NamedTuple):
    """The body of a response.

    Attributes:
        body: Content of the body, without HTTP's encodings.
        content_type: Media type in lower case, without parameters.
        charset: Character encoding that the server declared, or None.
    """

    body: bytes
    content_type: str
    charset: str | None


class _Response(NamedTuple):
    status: int
    fields: HeaderFields
    body: bytes


def read_page(record: ArchiveRecord, max_bytes: int) -> Page:
    """Returns the page of a response.

    Raises:
        UnreadableError: `no_http_status`; `unended_http_header`; `not_successful`, for a status other than
            2xx; `corrupt_chunks`; `not_text`, for media types other than HTML and plain text; a reason of
            `decode_body`; `no_content_type`, if no type is stated and the body does not begin like HTML; or
            `too_long`.
    """
    body, types, encodings = record.block, [record.header.content_type], ""
    if types[0].lower().startswith(HTTP_TYPE) or _STATUS.match(body):
        response = _read_response(body)
        if response.status // 100 != 2:
            raise UnreadableError("not_successful")
        types = response.fields.all("Content-Type")
        transfer = ",".join(response.fields.all("Transfer-Encoding")).lower()
        body = join_chunks(response.body, "chunked" in transfer)
        encodings = ",".join([*response.fields.all("Content-Encoding"), transfer])
    content_type, charset = _read_types(types)
    if content_type and content_type not in (*HTML_TYPES, PLAIN_TYPE):
        raise UnreadableError("not_text")
    decoded = decode_body(body, encodings, max_bytes)
    if not content_type and not _HTML.match(decoded.data):
        raise UnreadableError("no_content_type")
    if decoded.problem:
        raise UnreadableError(decoded.problem)
    return Page(decoded.data, content_type or HTML_TYPES[0], charset)


def _read_response(block: bytes) -> _Response:
    """Returns the last response of a record: responses of status 1xx or of a proxy may come before it."""
    for _ in range(MAX_RESPONSES):
        status = _STATUS.match(block)
        if not status:
            break
        end = HEADER_END.search(block, status.end())
        if not end and int(status[1]) // 100 == 2:
            raise UnreadableError("unended_http_header")
        first_line = block.find(b"\n", status.end()) + 1
        lines = block[first_line : end.start()] if end else b""
        body = block[end.end() :] if end else b""
        if (lines.strip() and int(status[1]) // 100 != 1) or not _STATUS.match(body):
            return _Response(int(status[1]), HeaderFields(lines), body)
        block = body
    raise UnreadableError("no_http_status")


def _read_types(types: list[str]) -> tuple[str, str | None]:
    """Returns the media type and the charset; if a server states several, the last of each."""
    media = [part.partition(";")[0].strip().lower() for value in types for part in value.split(",")]
    media = [each for each in media if "/" in each]
    charsets = [charset for value in types for charset in _CHARSET.findall(value)]
    return (media[-1] if media else ""), (charsets[-1] if charsets else None)
