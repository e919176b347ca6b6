"""A file as bytes to take from the front, whatever the blocks in which it comes."""

from firth.corpus.io.lines import problem_of, read_blocks


class ByteStream:
    """The decompressed content of a file, of which only what was asked for is held.

    Attributes:
        buffer: What has been read and not yet taken.
        problem: Why the file ends before its time, one of `problem_of`, once that is known.
    """

    def __init__(self, path: str):
        self._blocks = read_blocks(path)
        self._ended = False
        self.buffer = bytearray()
        self.problem: str | None = None

    def fill(self, size: int) -> bool:
        """Reads until the buffer holds this many bytes, and returns whether it does."""
        while len(self.buffer) < size and not self._ended:
            try:
                self.buffer += next(self._blocks)
            except StopIteration:
                self._ended = True
            except OSError as error:
                self._ended, self.problem = True, problem_of(error)
        return len(self.buffer) >= size

    def take(self, size: int) -> bytes:
        """Returns the next bytes: fewer where the file ends."""
        self.fill(size)
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def skip(self, size: int) -> int:
        """Passes over the next bytes without holding them, and returns how many there were."""
        skipped = 0
        while skipped < size and self.fill(1):
            step = min(size - skipped, len(self.buffer))
            del self.buffer[:step]
            skipped += step
        return skipped
