"""Web archives: pages as servers sent them (WARC and ARC), and their text (WET)."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import UnreadableError
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.compression import (
    COMPRESSIONS,
    Brotli,
    Gzip,
    RawDeflate,
    StreamError,
    Zlib,
    Zst,
    blocks_of,
    looks_plain,
)
from firth.corpus.io.file_contents import START_BYTES, BoundedBytes, RawRecord
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.archive_records import (
    HEADER_END,
    HTTP_TYPE,
    INFO,
    ArchiveRecord,
    HeaderFields,
    read_archive,
)
from firth.corpus.readers.decoding import StatedFields, decode_text, metadata_of, read_or_reject, reject_empty
from firth.corpus.readers.pages import decode_page, extract_text
from firth.recipes.corpus.sources import DescribedSource, WarcSource, WetSource

# Function from a source and a record to its text.
Read = Callable[[Any, ArchiveRecord], str]
# Types of records that describe the file or other records and have no text.
ABOUT_OTHERS = (INFO, "request", "metadata")
# The key of metadata that is not a field of a header.
OFFSET = "offset"
HTML_TYPES = ("text/html", "application/xhtml+xml")
PLAIN_TYPE = "text/plain"
# Responses of status 1xx and those of proxies come before the last one.
MAX_RESPONSES = 5
# The reason phrase may be missing, and so may the version.
_STATUS = re.compile(rb"\s*HTTP(?:/[\d.]+)?[ \t]+(\d{3})(?!\d)", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
# The beginnings by which a page without a stated type is HTML (the WHATWG's MIME sniffing, section 7.1).
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?:!--|"
    rb"(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>])",
    re.IGNORECASE,
)
# Some servers compress twice, but none are known that compress more often.
MAX_ENCODINGS = 3
_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\n]*)?\r?\n")
_LAST_CHUNK = re.compile(rb"\n0+[ \t]*\r?\n\s*\Z")
_LINE_END = re.compile(rb"\r?\n")
_NEVER = re.compile(rb"(?!)")


@reject_empty
def read_warc(source: WarcSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the pages of an archive as documents, and rejections for the other responses.

    Records of the types warcinfo, request and metadata are skipped. The reasons of rejection are the problems
    of `ArchiveRecord`; `not_a_response`, for records of other types; those of `read_page` and `extract_text`;
    `undecodable`; and `empty`.
    """
    yield from _read_records(source, file, _page_of)


def _page_of(source: WarcSource, record: ArchiveRecord) -> str:
    if record.header.kind != "response":
        raise UnreadableError("not_a_response")
    page = read_page(record, source.max_document_bytes)
    text = decode_page(page.body, page.charset)
    if page.content_type in HTML_TYPES:
        return extract_text(text, source.extractor)
    if not text.strip():
        raise UnreadableError("no_text")
    return text


@reject_empty
def read_wet(source: WetSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the texts of a WET file as documents, and rejections for other records.

    The reasons of rejection are the problems of `ArchiveRecord`; `not_a_conversion`; `invalid_utf8`; and
    `empty`.
    """
    yield from _read_records(source, file, _conversion_of)


def _conversion_of(source: WetSource, record: ArchiveRecord) -> str:
    if record.header.kind != "conversion":
        raise UnreadableError("not_a_conversion")
    return decode_text(record.block)


def _read_records(source: DescribedSource, file: SourceFile, read: Read) -> Iterator[Document | Rejection]:
    for record in read_archive(file.path, source.max_document_bytes):
        if record.problem or record.header.kind not in ABOUT_OTHERS:
            yield _read_record(source, file.place, record, read)


def _read_record(
    source: DescribedSource, path: str, record: ArchiveRecord, read: Read
) -> Document | Rejection:
    block = RawRecord(record.number, record.block, record.block_size, record.problem)
    fields = record.header.fields
    values: dict[str, Any] = (
        {key: fields.first(key) or None for key in source.metadata_keys} if fields else {}
    )
    values[OFFSET] = record.offset
    metadata = metadata_of(source.metadata_keys, values)
    stated, place = StatedFields(uri=record.header.uri, metadata=metadata), f"{path}#R{record.number}"
    return read_or_reject(lambda: (read(source, record), stated), source, path, block, place)


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


class _Encoding(NamedTuple):
    """A content encoding.

    Attributes:
        name: Name of the encoding in reasons of rejection.
        start: Pattern that matches the beginning of an encoded body, if the encoding can be recognised by it.
        decompressors: Constructors of decompressors, one for each format that servers mean by this name.
        input_bytes: Number of encoded bytes that are decoded at a time.
    """

    name: str
    start: re.Pattern[bytes]
    decompressors: tuple[Callable[[], Any], ...]
    input_bytes: int = 2**16


_GZIP = _Encoding("gzip", COMPRESSIONS[".gz"].start, (Gzip,))
# Some servers send raw deflate, without the zlib format that the standard asks for.
_DEFLATE = _Encoding("deflate", re.compile(rb"\x78[\x01\x5e\x9c\xda]"), (Zlib, RawDeflate))
_ZSTD = _Encoding("zstd", COMPRESSIONS[".zst"].start, (Zst,), COMPRESSIONS[".zst"].input_bytes)
_BR = _Encoding("br", _NEVER, (Brotli,))
_BY_NAME = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": _DEFLATE, "zstd": _ZSTD, "br": _BR}


def decode_body(body: bytes, declared: str, max_bytes: int) -> BoundedBytes:
    """Returns a body without its content encodings.

    The content decides: a declared encoding is ignored if the body is not encoded, and an undeclared one is
    recognised by the beginning of the body.

    Raises:
        UnreadableError: `truncated_gzip_body`, `corrupt_gzip_body`, or the same for `deflate`, `zstd`, `br`.

    Example:

    >>> import gzip
    >>> plain, packed = b"<p>Call me Ishmael.", gzip.compress(b"<p>Call me Ishmael.")
    >>> sent = (packed, "gzip"), (plain, "gzip"), (packed, "")
    >>> [decode_body(body, declared, 99).data == plain for body, declared in sent]
    [True, True, True]
    >>> decode_body(packed[:-9], "gzip", 99)
    Traceback (most recent call last):
    firth.corpus.documents.errors.UnreadableError: truncated_gzip_body
    """
    names = [name.strip().lower() for name in declared.split(",")]
    expected = [_BY_NAME[name] for name in names if name in _BY_NAME]
    content = BoundedBytes(max_bytes)
    content.extend(body)
    for _ in range(MAX_ENCODINGS):
        encoding, is_certain = _next_encoding(body, expected)
        if not encoding:
            break
        try:
            decoded = _decode(body, encoding, max_bytes)
        except UnreadableError:
            if is_certain:
                raise
            break
        if decoded.problem:
            return decoded
        content, body = decoded, decoded.data
    return content


def _next_encoding(body: bytes, expected: list[_Encoding]) -> tuple[_Encoding | None, bool]:
    """Returns the encoding of a body, and whether it is certain; takes it from the expected ones."""
    recognised = next((encoding for encoding in _BY_NAME.values() if encoding.start.match(body)), None)
    if recognised:
        if recognised in expected:
            expected.remove(recognised)
        return recognised, True
    is_plain = looks_plain(body[:START_BYTES])
    if expected:
        return expected.pop(), not is_plain and not body.lstrip().startswith(b"<")
    # Brotli's streams have no magic number.
    return (None if is_plain else _BR), False


def _decode(body: bytes, encoding: _Encoding, max_bytes: int) -> BoundedBytes:
    problems = []
    for new_decompressor in encoding.decompressors:
        content = BoundedBytes(max_bytes)
        try:
            _read_streams(body, new_decompressor, encoding, content)
            return content
        except StreamError as error:
            problems.append(f"{error.reason}_body")
    # The error of the format that the standard asks for is the most helpful one.
    raise UnreadableError(problems[0])


def _read_streams(
    body: bytes, new_decompressor: Callable[[], Any], encoding: _Encoding, content: BoundedBytes
) -> None:
    """Reads concatenated streams, and ignores other bytes after them, as browsers do."""
    decompressor, place = new_decompressor(), 0
    while place < len(body):
        data = body[place : place + encoding.input_bytes]
        place += len(data)
        for block in blocks_of(decompressor, data, encoding.name):
            content.extend(block)
            if content.problem:
                return
        if decompressor.eof:
            place -= len(decompressor.unused_data)
            if not encoding.start.match(body, place):
                return
            decompressor = new_decompressor()
    raise StreamError(f"truncated_{encoding.name}")


def join_chunks(body: bytes, declared: bool) -> bytes:
    r"""Returns a body without the frames of HTTP's chunked encoding.

    A body that is declared as chunked and is not is returned unchanged. An undeclared one loses its frames
    only if all of them fit and the last one, of 0 bytes, is at the end. A declared body may be cut short: the
    chunks that are there are returned.

    Example:

    >>> join_chunks(b"3\r\nabc\r\n0\r\n\r\n", True), join_chunks(b"abc", True), join_chunks(b"3\nab", True)
    (b'abc', b'abc', b'ab')
    >>> join_chunks(b"3\nabc\n0\n", False), join_chunks(b"999\n1\n2\n0\n", False)
    (b'abc', b'999\n1\n2\n0\n')
    """
    looks_chunked = _CHUNK.match(body) and (declared or _LAST_CHUNK.search(body[-64:]))
    if not looks_chunked:
        return body
    chunks, place = [], 0
    while frame := _CHUNK.match(body, place):
        size = int(frame[1], 16)
        chunks.append(body[frame.end() : frame.end() + size])
        place = frame.end() + size
        line_end = _LINE_END.match(body, place)
        if not size or place >= len(body) or not line_end:
            break
        place = line_end.end()
    if not declared:
        return body if size or body[place:].strip() else b"".join(chunks)
    if size and place < len(body):
        raise UnreadableError("corrupt_chunks")
    return b"".join(chunks)
