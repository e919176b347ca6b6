"""Lines and whole contents of files, read without ever holding more than asked for."""

import dataclasses
import gzip
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

BLOCK_BYTES = 2**18
READ_ERRORS = (OSError, EOFError, zlib.error)


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
        problem: Why the line is not whole: `too_long`, `truncated_gzip`, `corrupt_gzip`, `unreadable`.
            After one of the last three the file ends.
    """

    number: int
    data: bytes
    size: int
    problem: str | None = None


def read_lines(path: str, max_bytes: int) -> Iterator[Line]:
    """Yields the lines of a file on any of Beam's file systems; a path ending in `.gz` is decompressed.

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
    except READ_ERRORS as error:
        yield Line(number, pending.data, pending.size, problem_of(error))
        return
    if pending.size:
        yield _line(number, pending)


def _line(number: int, content: BoundedBytes) -> Line:
    return Line(number, content.data, content.size, "too_long" if content.too_long else None)


def read_blocks(path: str) -> Iterator[bytes]:
    """Yields a file's content, decompressed, in blocks of at most `BLOCK_BYTES`.

    Raises:
        OSError, EOFError, zlib.error: as `problem_of` tells apart.
    """
    # Beam's own decompression takes the end of a truncated file for its end, so gzip is done here.
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as raw:
        stream = gzip.GzipFile(fileobj=cast(BinaryIO, raw)) if path.endswith(".gz") else raw
        # read1 hands out what was decompressed before an error; read would lose it.
        read = getattr(stream, "read1", stream.read)
        while block := read(BLOCK_BYTES):
            yield block


def problem_of(error: Exception) -> str:
    """Returns the reason of rejection that an error while reading amounts to."""
    if isinstance(error, EOFError):
        return "truncated_gzip"
    if isinstance(error, zlib.error | gzip.BadGzipFile):
        return "corrupt_gzip"
    return "unreadable"
