"""TFRecord files, gzipped and each written as a whole or not at all, and their batches on Beam."""

import contextlib
import io
import os
import posixpath
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, cast

import apache_beam as beam
import google_crc32c
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindows
from isal import igzip

from firth import storage
from firth.corpus.documents.batching import split_into_batches
from firth.corpus.documents.hashing import digest

# Beam's cost is per element. A batch ends at this size, each record counting for its bytes and a share
# for itself, so that neither many short documents nor a few long ones make it large.
BATCH_BYTES = 2**20
RECORD_BYTES = 2**9
FILE_BYTES = 2**23
# A pattern, or several: an input may be of several artifacts.
Patterns = str | Sequence[str]
# Written once and read soon.
COMPRESSION_LEVEL = 1
BLOCK_BYTES = 2**20
_AS_IT_IS = CompressionTypes.UNCOMPRESSED
HEADER = struct.Struct("<QI")
FOOTER = struct.Struct("<I")


def record_files(patterns: Patterns) -> list[tuple[str, int]]:
    """Returns the sorted paths and the sizes in bytes of the files that workers will read."""
    asked = [patterns] if isinstance(patterns, str) else list(patterns)
    # Workers read through Beam, so Beam lists the files.
    matches = FileSystems.match(asked)
    return sorted({(each.path, each.size_in_bytes) for found in matches for each in found.metadata_list})


@beam.ptransform_fn
def ReadBatches(pipeline: beam.Pipeline, patterns: Patterns) -> PCollection[list[bytes]]:
    """Reads TFRecord files, gzipped or not, as lists of records of about a mebibyte."""
    paths = [path for path, _ in record_files(patterns)]
    if not paths:
        raise OSError(f"no file matches {patterns!r}")
    paths = pipeline | "Paths" >> beam.Create(paths) | "Spread" >> beam.Reshuffle()
    return paths | "Read" >> beam.FlatMap(read_batches).with_output_types(list[bytes])


def read_batches(path: str) -> Iterator[list[bytes]]:
    """Returns the records of a TFRecord file in lists of about a mebibyte.

    Raises:
        OSError: if there is no such file, or its gzip stream is damaged.
        EOFError: if its gzip stream ends too early.
        ValueError: if a record is damaged.
    """
    batches = split_into_batches(read_records(path), BATCH_BYTES, lambda record: len(record) + RECORD_BYTES)
    return filter(None, batches)


@beam.ptransform_fn
def WriteRecords(records: PCollection[bytes], folder: str) -> PCollection[str]:
    """Writes records to gzipped TFRecord files in a folder, and returns the paths of the files.

    Each worker writes files of about `FILE_BYTES` before compression, so that no record moves between workers
    and there are enough files for many workers to read. A file's name is a hash of its records, so that a
    bundle that Beam runs twice leaves one file.

    Args:
        records: The records.
        folder: Folder of the files, on a file system that all workers can write.
    """
    return records | beam.ParDo(_WriteRecords(folder))


@beam.typehints.with_output_types(str)
class _WriteRecords(beam.DoFn):
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def start_bundle(self) -> None:
        self._records: list[bytes] = []
        self._size = 0

    def process(self, record: bytes) -> Iterator[str]:
        self._records.append(record)
        self._size += len(record)
        if self._size >= FILE_BYTES:
            yield self._write()

    def finish_bundle(self) -> Iterator[Any]:
        if self._records:
            yield GlobalWindows.windowed_value(self._write())

    def _write(self) -> str:
        path = write_file(self._folder, digest(*self._records).hex(), self._records)
        self.start_bundle()
        return path


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
    with writing_records(folder, name) as write:
        for record in records:
            write(record)
    return record_path(folder, name)


def record_path(folder: str, name: str) -> str:
    """Returns the path of the file `data_tfrecord-<name>.gz` in a folder."""
    return posixpath.join(folder, f"data_tfrecord-{name}.gz")


@contextlib.contextmanager
def writing_records(folder: str, name: str) -> Iterator[Callable[[bytes], None]]:
    """Gives a function that writes a record to the file of `write_file`, which is there after the block."""
    # Neither name nor time, so that the same records are the same bytes.
    how = {"mode": "wb", "compresslevel": COMPRESSION_LEVEL, "filename": "", "mtime": 0}
    # Next to the folder, since readers of a split take every file in it.
    aside = posixpath.dirname(folder.rstrip("/"))
    block = io.BytesIO()
    with (
        storage.whole_file(record_path(folder, name), aside=aside) as file,
        igzip.IGzipFile(fileobj=cast(BinaryIO, file), **how) as compressed,
    ):

        def write(record: bytes) -> None:
            write_record(block, record)
            if block.tell() >= BLOCK_BYTES:
                compressed.write(block.getvalue())
                block.seek(0)
                block.truncate()

        yield write
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
    # isal takes an empty file for one without records.
    if not file.read(1):
        raise EOFError("the gzip stream is missing")
    file.seek(0)
    return igzip.IGzipFile(fileobj=file, mode="rb")


def masked_checksum(data: bytes) -> int:
    """Returns the CRC-32C of bytes, masked as TFRecord does: rotated, and a constant added.

    Example:

    >>> hex(masked_checksum(b"123456789"))
    '0xc78ab0e5'
    """
    checksum = google_crc32c.value(data)
    return ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def write_record(file: BinaryIO, record: bytes) -> None:
    """Writes a record in its frame."""
    length = struct.pack("<Q", len(record))
    header = length + FOOTER.pack(masked_checksum(length))
    file.write(b"".join([header, record, FOOTER.pack(masked_checksum(record))]))


def read_record(file: BinaryIO) -> bytes | None:
    """Returns the next record, or None at the end of the file."""
    header = file.read(HEADER.size)
    if not header:
        return None
    if len(header) < HEADER.size:
        raise ValueError("not a TFRecord file: it ends within the length of a record")
    length, checksum = HEADER.unpack(header)
    if checksum != masked_checksum(header[:8]):
        raise ValueError("not a TFRecord file: the checksum of a record's length is wrong")
    record = file.read(length)
    footer = file.read(FOOTER.size)
    if len(footer) < FOOTER.size:
        raise ValueError("not a TFRecord file: it ends within a record")
    if footer != FOOTER.pack(masked_checksum(record)):
        raise ValueError("not a TFRecord file: the checksum of a record is wrong")
    return record


def remove_leftovers(scratch: str, split_folders: Mapping[str, str]) -> None:
    """Removes the files that an interrupted run left, since the new files will have other names."""
    storage.remove(scratch)
    for folder in split_folders.values():
        unfinished = os.path.join(os.path.dirname(folder.rstrip("/")), ".data_tfrecord-*")
        for path in storage.glob(f"{folder}/data_tfrecord-*", unfinished):
            storage.remove(path)
