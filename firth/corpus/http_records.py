"""What a record of a web archive says, and the page in it."""

import io
from typing import TYPE_CHECKING, NamedTuple

from firth.corpus.lines import BoundedBytes
from firth.corpus.warc_records import WarcRecord

if TYPE_CHECKING:
    import fastwarc.warc

READ_BYTES = 2**16
HTML_TYPES = ("text/html", "application/xhtml+xml")
PLAIN_TYPE = "text/plain"


class Page(NamedTuple):
    """The body of a response.

    Attributes:
        body: Without HTTP's encodings.
        size: Of the body; above the limit, the least that it can be.
        content_type: In lower case, without parameters.
        charset: As the server declared it, if it did.
    """

    body: bytes
    size: int
    content_type: str
    charset: str | None


def open_record(record: WarcRecord) -> "fastwarc.warc.WarcRecord | None":
    """Returns a record with its headers parsed, or None if they cannot be."""
    from fastwarc.warc import ArchiveIterator

    try:
        stream = io.BytesIO(record.header + record.block)
        return next(ArchiveIterator(stream, parse_http=False), None)
    except (OSError, ValueError):
        return None


def type_of(record: "fastwarc.warc.WarcRecord") -> str:
    """Returns what kind of record it is, such as `response`."""
    return (record.headers.get("WARC-Type") or "").strip().lower()


def target_uri(record: "fastwarc.warc.WarcRecord") -> str:
    """Returns the address of the page that a record is about, or nothing."""
    # The first version of the format had it in angle brackets, and Wget still does.
    uri = (record.headers.get("WARC-Target-URI") or "").strip()
    return uri[1:-1] if uri.startswith("<") and uri.endswith(">") else uri


def read_page(record: "fastwarc.warc.WarcRecord", max_bytes: int) -> tuple[Page | None, str | None]:
    """Returns the page of a response, and the reason of rejection if it is none.

    Reasons: `malformed_http`, `not_successful` for a status other than 2xx, `not_text` for other media than
    HTML and plain text, `too_long`.
    """
    charset = None
    content_type = record.headers.get("Content-Type") or ""
    try:
        if record.is_http:
            record.parse_http(auto_decode="all")
            if (record.http_headers.status_code or 0) // 100 != 2:
                return None, "not_successful"
            content_type, charset = record.http_content_type or "", record.http_charset
        content_type = content_type.partition(";")[0].strip().lower()
        if content_type not in (*HTML_TYPES, PLAIN_TYPE):
            return None, "not_text"
        body = BoundedBytes(max_bytes)
        while not body.too_long and (block := record.reader.read(READ_BYTES)):
            body.extend(block)
    except (OSError, ValueError):
        return None, "malformed_http"
    page = Page(body.data, body.size, content_type, charset)
    return page, "too_long" if body.too_long else None
