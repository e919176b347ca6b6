"""TFRecords in and out of Beam, in batches."""

import pickle
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection

# Beam's cost is per element. A batch ends at this size, each record counting for its bytes and a share
# for itself, so that neither many short documents nor a few long ones make it large.
BATCH_BYTES = 2**20
RECORD_BYTES = 2**9


class ReadBatches(beam.PTransform):
    """Reads TFRecord files, compressed or not, as lists of records of about a mebibyte."""

    def __init__(self, pattern: str):
        super().__init__()
        self._pattern = pattern

    def expand(self, pipeline: beam.Pipeline) -> PCollection[list[bytes]]:  # noqa: D102
        return (
            pipeline
            | "Read" >> beam.io.ReadFromTFRecord(self._pattern)
            | "Batch" >> beam.BatchElements(BATCH_BYTES, BATCH_BYTES, element_size_fn=_cost)
        )


def _cost(record: bytes) -> int:
    return len(record) + RECORD_BYTES


def pickle_list(values: list[Any]) -> bytes:
    """Returns a list as one value to send between workers: Beam would encode its elements one by one."""
    return pickle.dumps(values, pickle.HIGHEST_PROTOCOL)


def unpickle_list(data: bytes) -> list[Any]:
    """Returns the list of `pickle_list`."""
    return pickle.loads(data)
