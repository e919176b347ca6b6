"""TFRecords read and written by Beam, in batches."""

from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindows

from firth.corpus.documents.batching import split_into_batches
from firth.corpus.documents.hashing import digest
from firth.corpus.io.record_files import read_records, write_file

# Beam's cost is per element. A batch ends at this size, each record counting for its bytes and a share
# for itself, so that neither many short documents nor a few long ones make it large.
BATCH_BYTES = 2**20
RECORD_BYTES = 2**9
FILE_BYTES = 2**23
# A pattern, or several: an input may be of several artifacts.
Patterns = str | Sequence[str]


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
