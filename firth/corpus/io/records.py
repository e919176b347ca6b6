"""TFRecords read and written by Beam, in batches."""

import pickle
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindows

from firth.corpus.documents.hashing import digest
from firth.corpus.io.record_files import read_records, write_file

# Beam's cost is per element. A batch ends at this size, each record counting for its bytes and a share
# for itself, so that neither many short documents nor a few long ones make it large.
BATCH_BYTES = 2**20
RECORD_BYTES = 2**9
FILE_BYTES = 2**23


class ReadBatches(beam.PTransform):
    """Reads TFRecord files, gzipped or not, as lists of records of about a mebibyte.

    Args:
        pattern: Path pattern of the files on any of Beam's file systems.

    Raises:
        OSError: on construction, if no file matches.
    """

    def __init__(self, pattern: str) -> None:
        super().__init__()
        # Workers read through Beam, so Beam says what there is to read.
        self._paths = [each.path for each in FileSystems.match([pattern])[0].metadata_list]
        if not self._paths:
            raise OSError(f"no file matches {pattern!r}")

    def expand(self, pipeline: beam.Pipeline) -> PCollection[list[bytes]]:  # noqa: D102
        paths = pipeline | "Paths" >> beam.Create(self._paths) | "Spread" >> beam.Reshuffle()
        return paths | "Read" >> beam.FlatMap(read_batches).with_output_types(list[bytes])


def read_batches(path: str) -> Iterator[list[bytes]]:
    """Yields the records of a TFRecord file in lists of about a mebibyte.

    Args:
        path: Path of the file on any of Beam's file systems.

    Raises:
        OSError: if there is no such file, or its gzip stream is damaged.
        EOFError: if its gzip stream ends too early.
        ValueError: if a record is damaged.
    """
    batch: list[bytes] = []
    size = 0
    for record in read_records(path):
        batch.append(record)
        size += len(record) + RECORD_BYTES
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class WriteRecords(beam.PTransform):
    """Writes records to gzipped TFRecord files in a folder, and returns the paths of the files.

    Each worker writes files of about `FILE_BYTES` before compression, so that no record moves between workers
    and there are enough files for many workers to read. A file's name is a hash of its records, so that a
    bundle that Beam runs twice leaves one file.

    Args:
        folder: Folder of the files, on a file system that all workers can write.
    """

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder

    def expand(self, records: PCollection[bytes]) -> PCollection[str]:  # noqa: D102
        return records | beam.ParDo(_WriteRecords(self._folder))


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


def pickle_list(values: list[Any]) -> bytes:
    """Returns a list as one value, since Beam would encode the elements of a list one by one.

    Args:
        values: The elements, which may be any values that pickle accepts.
    """
    return pickle.dumps(values, pickle.HIGHEST_PROTOCOL)


def unpickle_list(data: bytes) -> list[Any]:
    """Returns the list that `pickle_list` encoded.

    Args:
        data: The encoded list.
    """
    return pickle.loads(data)
