"""The records of a web archive, each with the proof that its length is right."""

import dataclasses
import re
from collections.abc import Iterator

from firth.corpus.byte_stream import ByteStream

MAX_HEADER_BYTES = 2**16
BLOCK_BYTES = 2**18
MAGIC = b"WARC/"
ARC_MAGIC = b"filedesc:"
_END = b"\r\n\r\n"
# How a record begins after the end of another.
_NEXT = _END + MAGIC
_LINE_ENDS = re.compile(rb"[\r\n]+")
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class WarcRecord:
    """A record, or what could be had of it.

    Attributes:
        number: From 1.
        header: The lines before the block, with the blank one.
        block: What the header speaks of; of a block above the limit only the beginning.
        size: Of header and block in bytes, as far as they were read.
        problem: Why the record is not whole: `too_long`; `bad_length`, where another record or nothing
            begins before its end, or none after it; `malformed_header`; `not_a_record`; `arc_not_warc`, for
            the format before WARC; or why the file ends.
    """

    number: int
    header: bytes
    block: bytes
    size: int
    problem: str | None = None


def read_warc_records(path: str, max_bytes: int) -> Iterator[WarcRecord]:
    """Yields the records of a WARC file.

    After a record of a bad length reading goes on at the next that begins, be it inside what the length
    claims. Nothing longer than a header and `max_bytes` is held.
    """
    stream, number, problem = ByteStream(path), 0, None
    while _skip_line_ends(stream):
        number += 1
        record = _next_record(stream, number, max_bytes)
        problem = record.problem
        yield record
    if stream.problem and problem != stream.problem:
        yield WarcRecord(number + 1, b"", b"", 0, stream.problem)


def _skip_line_ends(stream: ByteStream) -> bool:
    while stream.fill(1):
        blank = _LINE_ENDS.match(stream.buffer)
        if not blank:
            return True
        stream.skip(blank.end())
    return False


def _next_record(stream: ByteStream, number: int, max_bytes: int) -> WarcRecord:
    stream.fill(MAX_HEADER_BYTES)
    if not stream.buffer.startswith(MAGIC):
        arc = number == 1 and stream.buffer.startswith(ARC_MAGIC)
        start = bytes(stream.buffer[:BLOCK_BYTES])
        size = stream.skip(2**63) if arc else _skip_to_next(stream, 0)
        return WarcRecord(number, b"", start, size, "arc_not_warc" if arc else "not_a_record")
    found = _HEADER_END.search(stream.buffer, 0, MAX_HEADER_BYTES)
    length = _LENGTH.search(stream.buffer, 0, found.end()) if found else None
    if not found or not length:
        start = bytes(stream.buffer[:BLOCK_BYTES])
        cut = not found and len(stream.buffer) < MAX_HEADER_BYTES and stream.problem
        size = _skip_to_next(stream, len(MAGIC))
        return WarcRecord(number, b"", start, size, cut or "malformed_header")
    header_size, block_size = found.end(), int(length[1])
    if block_size > max_bytes:
        return _long_record(stream, number, header_size, block_size, max_bytes)
    whole = stream.fill(header_size + block_size)
    if whole and _is_boundary(stream, header_size + block_size):
        header = stream.take(header_size)
        return WarcRecord(number, header, stream.take(block_size), header_size + block_size)
    return _bad_record(stream, number, header_size, block_size)


def _is_boundary(stream: ByteStream, end: int) -> bool:
    """Returns whether a record ends at a place of the buffer: two line ends stand there, or nothing."""
    stream.fill(end + 64)
    rest = bytes(stream.buffer[end : end + 64])
    after = rest.lstrip(b"\r\n")
    # Some archives end records with other line ends.
    return rest.startswith(_END) or not after or (after.startswith(MAGIC) and len(after) < len(rest))


def _bad_record(stream: ByteStream, number: int, header_size: int, block_size: int) -> WarcRecord:
    header = bytes(stream.buffer[:header_size])
    block = bytes(stream.buffer[header_size : header_size + min(block_size, BLOCK_BYTES)])
    # Where the file ends too early, that is the reason, unless another record begins before.
    inside = stream.buffer.find(_NEXT, header_size) >= 0
    problem = stream.problem if stream.problem and not inside else "bad_length"
    return WarcRecord(number, header, block, _skip_to_next(stream, header_size), problem)


def _long_record(
    stream: ByteStream, number: int, header_size: int, block_size: int, max_bytes: int
) -> WarcRecord:
    header = stream.take(header_size)
    stream.fill(min(max_bytes, BLOCK_BYTES))
    block = bytes(stream.buffer[:BLOCK_BYTES])
    size = _skip_to_next(stream, 0, block_size)
    problem = "too_long" if size == block_size else stream.problem or "bad_length"
    return WarcRecord(number, header, block, header_size + size, problem)


def _skip_to_next(stream: ByteStream, start: int, limit: int = 2**63) -> int:
    """Passes over bytes until a record begins, the limit is reached or the file ends; returns how many."""
    skipped = 0
    while stream.fill(start + len(_NEXT)):
        stream.fill(min(limit - skipped, start + BLOCK_BYTES))
        found = stream.buffer.find(_NEXT, start)
        if 0 <= found <= limit - skipped:
            return skipped + stream.skip(found)
        # The mark may begin in the last bytes.
        step = min(len(stream.buffer) - len(_NEXT) + 1, limit - skipped)
        skipped += stream.skip(step)
        start = 0
        if skipped == limit:
            return skipped
    return skipped + stream.skip(limit - skipped)
