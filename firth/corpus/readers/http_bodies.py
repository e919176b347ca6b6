"""Removal of HTTP's content and transfer encodings, whether the server declares them or not."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from firth.corpus.documents.errors import UnreadableError
from firth.corpus.io.compression import COMPRESSIONS, StreamError, blocks_of, looks_plain
from firth.corpus.io.decompressors import Brotli, Gzip, RawDeflate, Zlib, Zst
from firth.corpus.io.lines import START_BYTES, BoundedBytes

# Some servers compress twice, but none are known that compress more often.
MAX_ENCODINGS = 3
_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\n]*)?\r?\n")
_LAST_CHUNK = re.compile(rb"\n0+[ \t]*\r?\n\s*\Z")
_LINE_END = re.compile(rb"\r?\n")
_NEVER = re.compile(rb"(?!)")


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
    told = next((encoding for encoding in _BY_NAME.values() if encoding.start.match(body)), None)
    if told:
        if told in expected:
            expected.remove(told)
        return told, True
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
