"""Pairs of rows with different documents, for the random next sentences of an evaluation."""

import pickle
from collections.abc import Iterable, Iterator

import apache_beam as beam
from apache_beam.pvalue import AsSingleton, PCollection
from apache_beam.typehints.decorators import no_annotations

from firth.corpus.documents.batching import by_key
from firth.corpus.packing.packed_rows import Row

# Rows of a bucket are held in memory together. A split with fewer rows is one bucket, so that every row has a
# negative if there is one.
BUCKET_ROWS = 2**12


def find_negatives(rows: Iterable[Row]) -> list[tuple[Row, Row | None]]:
    """Returns the rows sorted by example id, each with the next row that shares no document with it.

    The row after the last one is the first. The negative is None if all other rows share a document with the
    row.
    """
    ordered = sorted(rows, key=lambda row: row.example_id)
    doubled = ordered + ordered
    return [(row, _first_disjoint(row, doubled[i + 1 : i + len(ordered)])) for i, row in enumerate(ordered)]


def _first_disjoint(row: Row, others: Iterable[Row]) -> Row | None:
    return next((other for other in others if not row.document_keys & other.document_keys), None)


@beam.ptransform_fn
def AddNegatives(groups: PCollection) -> PCollection:
    """Pairs rows with negatives: (group, rows) to (bucket, number of buckets, [(row, negative)]).

    The bucket of a row depends on its example id, and the number of buckets on the number of all rows, so the
    pairs do not depend on the number of workers.
    """
    rows = groups | "Rows" >> beam.Map(lambda group: len(group[1])) | "Count" >> beam.CombineGlobally(sum)
    return (
        groups
        | "Bucket" >> beam.FlatMap(_rebucket, AsSingleton(rows))
        | "GroupByKey" >> beam.GroupByKey()
        | "Pair" >> beam.Map(_pair)
    )


def _buckets(rows: int) -> int:
    return 1 + rows // BUCKET_ROWS


def _rebucket(group: tuple[int, list[Row]], rows: int) -> Iterator[tuple[tuple[int, int], bytes]]:
    for bucket, members in by_key(group[1], lambda row: row.example_id % _buckets(rows)).items():
        yield (bucket, _buckets(rows)), pickle.dumps(members, pickle.HIGHEST_PROTOCOL)


# Beam infers the type of the result.
@no_annotations
def _pair(
    element: tuple[tuple[int, int], Iterable[bytes]],
) -> tuple[int, int, list[tuple[Row, Row | None]]]:
    (bucket, buckets), groups = element
    return bucket, buckets, find_negatives(row for rows in groups for row in pickle.loads(rows))
