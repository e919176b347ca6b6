"""Lines and whole contents of files, with a limit on what is held in memory."""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import BinaryIO, cast

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from firth.corpus.io.compression import BLOCK_BYTES, compression_of, decompress

# Enough of a file to recognise its compression.
START_BYTES = 2**9


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
