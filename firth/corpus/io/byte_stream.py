"""A file read as a stream of bytes, from which callers take any number at a time."""

from firth.corpus.io.lines import problem_of, read_blocks


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
