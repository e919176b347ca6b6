"""Lines, whole contents and byte streams of files, with a limit on the memory that they take."""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import BinaryIO, cast

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from firth.corpus.documents.errors import CorpusError
from firth.corpus.io.compression import BLOCK_BYTES, compression_of, decompress

# Enough of a file to recognise its compression.
START_BYTES = 2**9
_MAX_ENTRY_BYTES = 2**14


class BoundedBytes:
    """The beginning of a sequence of bytes of any length, and the length of the whole sequence.

    Attributes:
        size: Length of the whole sequence so far.

    Example:

    >>> record = BoundedBytes(max_bytes=4)
    >>> record.extend(b"abcdefgh")
    >>> record.size, record.problem
    (8, 'too_long')
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._data = bytearray()
        self.size = 0

    def extend(self, part: bytes, size: int | None = None) -> None:
        """Appends a part. Bytes above the limit are counted but not kept."""
        self._data += part[: self._max_bytes + 1 - len(self._data)]
        self.size += len(part) if size is None else size

    @property
    def problem(self) -> str | None:
        """`too_long`, or None for a sequence that is not longer than the limit."""
        return "too_long" if self.size > self._max_bytes else None

    @property
    def data(self) -> bytes:
        """The bytes that were kept."""
        return bytes(self._data)

    def record(self, number: int, problem: str | None = None) -> "RawRecord":
        """Returns the sequence as a record."""
        return RawRecord(number, self.data, self.size, problem or self.problem)


@dataclasses.dataclass(frozen=True)
class RawRecord:
    """The bytes of a record of a file, such as a line, whole or cut.

    Attributes:
        number: Number of the record or of its first line, from 1; 0 for the whole file.
        data: The record, a line without its line feed; the beginning of it if it is too long.
        size: Length of the whole record in bytes.
        problem: Reason why the record is not whole, such as `too_long`, or one that `problem_of` returns, if
            the file could not be read any further. None for a whole record.
    """

    number: int
    data: bytes
    size: int
    problem: str | None = None


def read_lines(path: str, max_bytes: int, blocks: Iterable[bytes] | None = None) -> Iterator[RawRecord]:
    """Yields the lines of a file, decompressed as in `read_blocks`.

    A line longer than `max_bytes` is cut and has the problem `too_long`. If a file cannot be opened or not be
    read to its end, a last `RawRecord` with the `problem` follows the lines that could be read. No error is
    raised.
    """
    number, pending = 1, BoundedBytes(max_bytes)
    try:
        for block in read_blocks(path) if blocks is None else blocks:
            *ends, rest = block.split(b"\n")
            for end in ends:
                pending.extend(end)
                yield pending.record(number)
                number, pending = number + 1, BoundedBytes(max_bytes)
            pending.extend(rest)
    except OSError as error:
        yield pending.record(number, problem_of(error))
        return
    if pending.size:
        yield pending.record(number)


def read_blocks(path: str, members: list[tuple[int, int]] | None = None) -> Iterator[bytes]:
    """Yields the content of a file in blocks of bounded size, decompressed if `compression_of` says so.

    Raises:
        OSError: if the file cannot be read; `problem_of` returns the reason of rejection.
    """
    # Beam's own decompression takes the end of a truncated file for its end.
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as raw:
        start = raw.read(START_BYTES)
        compression = compression_of(path, start)
        if compression:
            yield from decompress(start, cast(BinaryIO, raw), compression, members)
            return
        if start:
            yield start
        while block := raw.read(BLOCK_BYTES):
            yield block


def read_whole(
    path: str, max_bytes: int, blocks: Iterable[bytes] | None = None
) -> tuple[BoundedBytes, str | None]:
    """Returns the content of a file, and the reason why it is not whole."""
    content = BoundedBytes(max_bytes)
    try:
        for block in read_blocks(path) if blocks is None else blocks:
            content.extend(block)
    except OSError as error:
        return content, problem_of(error)
    return content, content.problem


def problem_of(error: OSError) -> str:
    """Returns the reason of rejection for an error while reading a file.

    It is `truncated_<name>` or `corrupt_<name>` for a compressed stream, where the name is `gzip`, `bz2`,
    `xz`, `zst` or `lz4`, and `unreadable` otherwise.
    """
    return getattr(error, "reason", "unreadable")


def read_list(path: str) -> Iterator[tuple[int, str]]:
    """Yields the lines that are not blank, with their numbers and without spaces around them."""
    nothing = True
    for line in read_lines(path, _MAX_ENTRY_BYTES):
        if line.problem:
            raise CorpusError(f"{path}, line {line.number}: {line.problem}")
        try:
            text = line.data.decode("utf-8-sig").strip()
        except UnicodeDecodeError:
            raise CorpusError(f"{path}, line {line.number}: invalid_utf8") from None
        if text:
            nothing = False
            yield line.number, text
    if nothing:
        raise CorpusError(f"{path} has no entry")


class ByteStream:
    """The decompressed content of a file. Only the bytes asked for are held in memory.

    Attributes:
        buffer: Bytes that have been read and not yet taken.
        problem: Reason why the file could not be read to its end, as `problem_of` returns it, or None.
    """

    def __init__(self, path: str) -> None:
        self._members: list[tuple[int, int]] = []
        self._blocks = read_blocks(path, self._members)
        self._ended = False
        self._taken = 0
        self.buffer = bytearray()
        self.problem: str | None = None

    @property
    def offset(self) -> int | None:
        """The place in the file of the first byte that has not been taken.

        In a compressed file it is that of the stream that begins with the byte, or None if none does.
        """
        self.fill(1)
        if not self._members:
            return self._taken
        while len(self._members) > 1 and self._members[1][0] <= self._taken:
            del self._members[0]
        begins, place = self._members[0]
        return place if begins == self._taken else None

    def fill(self, size: int) -> bool:
        """Reads until the buffer holds a number of bytes or the file ends."""
        while len(self.buffer) < size and not self._ended:
            try:
                self.buffer += next(self._blocks)
            except StopIteration:
                self._ended = True
            except OSError as error:
                self._ended, self.problem = True, problem_of(error)
        return len(self.buffer) >= size

    def take(self, size: int) -> bytes:
        """Returns the next bytes of the file, fewer than `size` only at its end."""
        self.fill(size)
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        self._taken += len(data)
        return data

    def skip(self, size: int) -> int:
        """Skips the next bytes of the file without holding them, and returns how many there were."""
        skipped = 0
        while skipped < size and self.fill(1):
            step = min(size - skipped, len(self.buffer))
            del self.buffer[:step]
            skipped += step
        self._taken += skipped
        return skipped
