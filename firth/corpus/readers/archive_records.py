"""The records of a web archive, with a check that the stated length of each is right."""

import dataclasses
import re
from collections.abc import Iterator

from firth.corpus.documents.rejection import BEGINNING_BYTES
from firth.corpus.io.byte_stream import ByteStream
from firth.corpus.readers.archive_formats import MAX_HEADER_BYTES, ArchiveFormat, RecordHeader, format_of

BLOCK_BYTES = 2**18
NO_HEADER = RecordHeader(0, 0, "", "", "")
_LINE_ENDS = re.compile(rb"[\r\n]+")


@dataclasses.dataclass(frozen=True)
class ArchiveRecord:
    """A record of a web archive, or the part of it that could be read.

    Attributes:
        number: Number of the record in its file, from 1.
        header: The record's header; `NO_HEADER` if it could not be read.
        block: Content of the record; if there is a problem, at most its first `BEGINNING_BYTES` bytes.
        size: Length of header and block in bytes, as far as they were read.
        problem: Reason of rejection, or None for a whole record: `too_long`; `bad_length`, if another record
            or the end of the file comes before the stated end, or no record comes after it; a reason of
            `ArchiveFormat.read_header`; or what `problem_of` returns, if the file cannot be read further.
        offset: Place of the record in the file, as `ByteStream.offset` has it.
    """

    number: int
    header: RecordHeader
    block: bytes
    size: int
    problem: str | None = None
    offset: int | None = None

    @property
    def block_size(self) -> int:
        """The length of the block in bytes, as far as it was read."""
        return self.size - self.header.size


def read_archive(path: str, max_bytes: int) -> Iterator[ArchiveRecord]:
    """Yields the records of a WARC or ARC file, whose format is recognised by its content.

    After a record with a wrong length reading continues at the next record that can be found, even if that
    begins inside the stated length. At most a header and `max_bytes` are held in memory.
    """
    stream, number, problem = ByteStream(path), 0, None
    archive_format = None
    while _skip_line_ends(stream):
        number += 1
        stream.fill(MAX_HEADER_BYTES)
        archive_format = archive_format or format_of(stream.buffer)
        offset = stream.offset
        record = _Reader(stream, archive_format, max_bytes).next_record(number)
        problem = record.problem
        yield dataclasses.replace(record, offset=offset)
    if stream.problem and problem != stream.problem:
        yield ArchiveRecord(number + 1, NO_HEADER, b"", 0, stream.problem)


def _skip_line_ends(stream: ByteStream) -> bool:
    while stream.fill(1):
        blank = _LINE_ENDS.match(stream.buffer)
        if not blank:
            return True
        stream.skip(blank.end())
    return False


@dataclasses.dataclass(frozen=True)
class _Reader:
    stream: ByteStream
    format: ArchiveFormat
    max_bytes: int

    def next_record(self, number: int) -> ArchiveRecord:
        stream = self.stream
        header = self.format.read_header(stream.buffer)
        if isinstance(header, str):
            return self._headless(number, header)
        if header.length > self.max_bytes:
            return self._long(number, header)
        end = header.size + header.length
        if stream.fill(end) and self._is_boundary(end):
            stream.skip(header.size)
            return ArchiveRecord(number, header, stream.take(header.length), end)
        return self._bad_length(number, header)

    def _is_boundary(self, end: int) -> bool:
        size = end + self.format.mark_bytes + 64
        self.stream.fill(size)
        return self.format.is_boundary(bytes(self.stream.buffer[end:size]))

    def _headless(self, number: int, problem: str) -> ArchiveRecord:
        stream = self.stream
        start = bytes(stream.buffer[:BEGINNING_BYTES])
        cut = len(stream.buffer) < MAX_HEADER_BYTES and problem == "unended_header" and stream.problem
        size = self._skip_to_next(1)
        return ArchiveRecord(number, NO_HEADER, start[:size], size, cut or problem)

    def _bad_length(self, number: int, header: RecordHeader) -> ArchiveRecord:
        stream, size = self.stream, header.size
        block = bytes(stream.buffer[size : size + min(header.length, BEGINNING_BYTES)])
        # If the file ends too early, that is the reason, unless another record begins before.
        inside = self.format.find(stream.buffer, size) >= 0
        problem = stream.problem if stream.problem and not inside else "bad_length"
        return ArchiveRecord(number, header, block, self._skip_to_next(size), problem)

    def _long(self, number: int, header: RecordHeader) -> ArchiveRecord:
        stream = self.stream
        stream.skip(header.size)
        stream.fill(min(self.max_bytes, BEGINNING_BYTES))
        block = bytes(stream.buffer[:BEGINNING_BYTES])
        size = self._skip_to_next(0, header.length)
        problem = "too_long" if size == header.length else stream.problem or "bad_length"
        return ArchiveRecord(number, header, block, header.size + size, problem)

    def _skip_to_next(self, start: int, limit: int = 2**63) -> int:
        """Passes over bytes until a record begins, to the limit or the file's end; returns how many."""
        stream, mark_bytes, skipped = self.stream, self.format.mark_bytes, 0
        while stream.fill(start + mark_bytes):
            stream.fill(min(limit - skipped, start + mark_bytes + BLOCK_BYTES))
            found = self.format.find(stream.buffer, start)
            if 0 <= found <= limit - skipped:
                return skipped + stream.skip(found)
            # The beginning of a record may start in the last bytes.
            step = min(len(stream.buffer) - mark_bytes + 1, limit - skipped)
            skipped += stream.skip(step)
            start = 0
            if skipped == limit:
                return skipped
        found = self.format.find(stream.buffer, start)
        left = found if 0 <= found <= limit - skipped else limit - skipped
        return skipped + stream.skip(left)
