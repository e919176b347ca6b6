"""Lines and whole contents of files, read without ever holding more than asked for."""

import dataclasses
from collections.abc import Iterator
from typing import BinaryIO, cast

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from firth.corpus.io.compression import BLOCK_BYTES, compression_of, decompress

# What tells a compression.
START_BYTES = 2**9


class BoundedBytes:
    """The beginning of something that may be very long, and how long it is.

    Example:

    >>> record = BoundedBytes(max_bytes=4)
    >>> record.extend(b"abcdefgh")
    >>> record.size, record.too_long
    (8, True)
    """

    def __init__(self, max_bytes: int):
        self._max_bytes = max_bytes
        self._data = bytearray()
        self.size = 0

    def extend(self, part: bytes, size: int | None = None) -> None:
        """Appends a part, of which nothing is kept beyond the limit and one byte.

        Args:
            part: What comes next, or the beginning of it.
            size: Of what comes next, if `part` is only its beginning.
        """
        self._data += part[: self._max_bytes + 1 - len(self._data)]
        self.size += len(part) if size is None else size

    @property
    def too_long(self) -> bool:
        """Whether more came than the limit allows."""
        return self.size > self._max_bytes

    @property
    def data(self) -> bytes:
        """What was kept."""
        return bytes(self._data)


@dataclasses.dataclass(frozen=True)
class Line:
    """One line, or what could be had of it.

    Attributes:
        number: From 1.
        data: The line without its line feed; of a line above the limit only the beginning.
        size: Length of the whole line in bytes.
        problem: Why the line is not whole: `too_long`, or one of `problem_of`, after which the file ends.
    """

    number: int
    data: bytes
    size: int
    problem: str | None = None


def read_lines(path: str, max_bytes: int) -> Iterator[Line]:
    """Yields the lines of a file on any of Beam's file systems, decompressed as `read_blocks` does.

    A line above `max_bytes` is yielded cut, as `too_long`. A file that cannot be opened, or not be read to
    its end, yields a last line with the `problem`, after the lines before it.
    """
    number, pending = 1, BoundedBytes(max_bytes)
    try:
        for block in read_blocks(path):
            *ends, rest = block.split(b"\n")
            for end in ends:
                pending.extend(end)
                yield _line(number, pending)
                number, pending = number + 1, BoundedBytes(max_bytes)
            pending.extend(rest)
    except OSError as error:
        yield Line(number, pending.data, pending.size, problem_of(error))
        return
    if pending.size:
        yield _line(number, pending)


def _line(number: int, content: BoundedBytes) -> Line:
    return Line(number, content.data, content.size, "too_long" if content.too_long else None)


def read_blocks(path: str) -> Iterator[bytes]:
    """Yields a file's content in blocks of bounded size, decompressed as `compression_of` says.

    Raises:
        OSError: as `problem_of` tells apart.
    """
    # Beam's own decompression takes the end of a truncated file for its end.
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as raw:
        start = raw.read(START_BYTES)
        compression = compression_of(path, start)
        if compression:
            yield from decompress(start, cast(BinaryIO, raw), compression)
            return
        if start:
            yield start
        while block := raw.read(BLOCK_BYTES):
            yield block


def read_whole(path: str, max_bytes: int) -> tuple[BoundedBytes, str | None]:
    """Returns the content of a file, and why it is not whole: `too_long`, or one of `problem_of`."""
    content = BoundedBytes(max_bytes)
    try:
        for block in read_blocks(path):
            content.extend(block)
    except OSError as error:
        return content, problem_of(error)
    return content, "too_long" if content.too_long else None


def problem_of(error: OSError) -> str:
    """Returns the reason of rejection that an error while reading amounts to.

    Of a compressed stream `truncated_gzip` or `corrupt_gzip`, and so for `bz2`, `xz`, `zst` and `lz4`;
    otherwise `unreadable`.
    """
    return getattr(error, "reason", "unreadable")
