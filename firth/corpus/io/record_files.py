"""Gzipped TFRecord files, each written as a whole or not at all."""

import io
import posixpath
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, cast

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from isal import igzip

from firth import storage
from firth.corpus.io.record_frames import read_record, write_record

# Written once and read soon.
COMPRESSION_LEVEL = 1
BLOCK_BYTES = 2**20
_AS_IT_IS = CompressionTypes.UNCOMPRESSED


def write_records(folder: str, index: int, count: int, records: Iterable[bytes]) -> str:
    """Writes one of several numbered files into a folder, and returns its path.

    Raises:
        OSError: if the file cannot be written, for example because the disk is full.
    """
    return write_file(folder, f"{index:05d}-of-{count:05d}", records)


def write_file(folder: str, name: str, records: Iterable[bytes]) -> str:
    """Writes a file `data_tfrecord-<name>.gz` into a folder, and returns its path.

    Raises:
        OSError: if the file cannot be written, for example because the disk is full.
    """
    path = posixpath.join(folder, f"data_tfrecord-{name}.gz")
    # Next to the folder, since readers of a split take every file in it.
    with storage.whole_file(path, aside=posixpath.dirname(folder.rstrip("/"))) as file:
        _compress(records, cast(BinaryIO, file))
    return path


def _compress(records: Iterable[bytes], file: BinaryIO) -> None:
    # Neither name nor time, so that the same records are the same bytes.
    how = {"mode": "wb", "compresslevel": COMPRESSION_LEVEL, "filename": "", "mtime": 0}
    with igzip.IGzipFile(fileobj=file, **how) as compressed:
        block = io.BytesIO()
        for record in records:
            write_record(block, record)
            if block.tell() >= BLOCK_BYTES:
                compressed.write(block.getvalue())
                block = io.BytesIO()
        compressed.write(block.getvalue())


def read_records(path: str) -> Iterator[bytes]:
    """Yields the records of a TFRecord file, which is gzipped if its name ends in `.gz`.

    Raises:
        OSError: if there is no such file, or its gzip stream is damaged.
        EOFError: if its gzip stream ends too early; the message names the file.
        ValueError: if a record is damaged; the message names the file.
    """
    try:
        with FileSystems.open(path, compression_type=_AS_IT_IS) as file:
            buffered = io.BufferedReader(_content(path, file), BLOCK_BYTES)
            while (record := read_record(buffered)) is not None:
                yield record
    except (EOFError, ValueError) as error:
        raise type(error)(f"{path}: {error}") from error


def _content(path: str, file: Any) -> Any:
    if not path.endswith(".gz"):
        return file
    # isal takes a file of nothing for one that holds nothing.
    if not file.read(1):
        raise EOFError("the gzip stream is missing")
    file.seek(0)
    return igzip.IGzipFile(fileobj=file, mode="rb")
