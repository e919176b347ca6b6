"""Checks that a gzip file is whole: TensorFlow takes the end of a truncated one for its end."""

import gzip
import zlib
from typing import IO

from firth import storage

# A header, an empty stream, a checksum and a size.
_LEAST_BYTES = 20
_SIZE_BYTES = 4
_BLOCK_BYTES = 2**20


class TruncatedError(ValueError):
    """A gzip file that ends before its stream does."""


def check_gzip_end(path: str, size: int) -> None:
    """Checks that a gzip file is whole, after its content was read.

    A gzip stream ends with its content's size. Where that is not what was read, the file is truncated or
    holds several streams, which reading it again, with its checksums, tells apart.

    Args:
        path: Path of the file, on any file system.
        size: Number of bytes of content that were read of the file.

    Raises:
        TruncatedError: if the file is truncated; the message says what is missing.
    """
    length = storage.size_of(path)
    if length < _LEAST_BYTES:
        raise TruncatedError(f"{length} bytes are not a gzip stream")
    with storage.open_file(path) as file:
        file.seek(length - _SIZE_BYTES)
        if int.from_bytes(file.read(_SIZE_BYTES), "little") == size % 2**32:
            return
        file.seek(0)
        found = _size_of(file)
    if found != size:
        raise TruncatedError(f"{size} bytes were read of {found}")


def _size_of(file: IO[bytes]) -> int:
    size = 0
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as stream:
            while block := stream.read(_BLOCK_BYTES):
                size += len(block)
    except (EOFError, OSError, zlib.error) as error:
        raise TruncatedError(str(error)) from error
    return size
