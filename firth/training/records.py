"""The records of TFRecord files, one after another, in Python.

A tf.data pipeline for each of many small files takes longer to be made than the files to be read, and takes
the end of a truncated gzip file for its end.
"""

import gzip
import zlib
from collections.abc import Iterator
from typing import IO, BinaryIO, cast

from firth import storage
from firth.corpus.io.record_frames import read_record


class RecordsError(ValueError):
    """A file whose records cannot be read to its end."""


def records_of(path: str) -> Iterator[bytes]:
    """Yields the records of a file, with their checksums checked."""
    try:
        with storage.open_file(path) as file, _content_of(path, file) as content:
            while (record := read_record(content)) is not None:
                yield record
    except (EOFError, gzip.BadGzipFile, zlib.error, ValueError) as error:
        raise RecordsError(str(error)) from error


def _content_of(path: str, file: IO[bytes]) -> BinaryIO:
    if not path.endswith(".gz"):
        return cast("BinaryIO", file)
    # A file of nothing is none that holds nothing.
    if not file.read(1):
        raise EOFError("0 bytes are not a gzip stream")
    file.seek(0)
    return cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="rb"))
