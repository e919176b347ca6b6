"""Parquet files of the documents that samples leave out or that cleaning drops, with step and reason."""

import functools
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple, cast

import apache_beam as beam
from apache_beam.pvalue import PCollection

from firth import storage
from firth.corpus.documents.document import Document
from firth.corpus.documents.hashing import hash63
from firth.corpus.documents.steps import Drop
from firth.corpus.privacy.pii import Pii

DROPPED_FOLDER = "dropped"


class DroppedDocument(NamedTuple):
    """A row of the files.

    Attributes:
        id: Id of the document.
        source: Name of its source in the recipe.
        uri: Address of the text, without personal data.
        step: Name of the step that dropped it; `read` for a document that a sample left out.
        reason: Reason for which the step dropped it.
        match: Id of the document that was kept instead of a duplicate; empty for other documents.
    """

    id: str
    source: str
    uri: str
    step: str
    reason: str
    match: str = ""


@beam.ptransform_fn
def WriteDropped(
    dropped: PCollection[list[DroppedDocument]], folder: str, files: int, scrubber: Pii
) -> PCollection[str | None]:
    """Writes dropped documents to Parquet files: lists of them to paths.

    A document is in the file that a hash of its id names, in the order of the ids, so that the files are the
    same on any number of workers. Files that would be empty are not written.
    """
    return (
        dropped
        | "File" >> beam.FlatMap(_by_file, files)
        | "Group" >> beam.GroupByKey()
        | "Write" >> beam.MapTuple(functools.partial(_write, folder, files, scrubber))
    )


def _by_file(rows: list[DroppedDocument], files: int) -> Iterator[tuple[int, DroppedDocument | None]]:
    for row in rows:
        yield hash63(row.id) % files, row
    # Beam's runner of several processes cannot group an empty collection (apache/beam#25315).
    if not rows:
        yield 0, None


def _write(
    folder: str, files: int, scrubber: Pii, index: int, rows: Iterable[DroppedDocument | None]
) -> str | None:
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([(name, pa.string()) for name in DroppedDocument._fields])
    # Beam's coders turn a NamedTuple of some runners into a tuple.
    named = sorted(DroppedDocument(*row) for row in rows if row)
    if not named:
        return None
    shown = [row._replace(uri=scrubber.scrub_metadata(row.uri))._asdict() for row in named]
    path = f"{folder}/{index:05d}-of-{files:05d}.parquet"
    with storage.whole_file(path) as file:
        parquet.write_table(pa.Table.from_pylist(shown, schema), cast(IO[bytes], file), compression="zstd")
    return path


def find_dropped(report_folder: str, wanted: str, scrubber: Pii) -> list[DroppedDocument]:
    """Returns the dropped documents of an id or an address."""
    from pyarrow import dataset

    paths = storage.glob(f"{report_folder}/{DROPPED_FOLDER}/*.parquet")
    found = []
    for path in paths:
        with storage.local_copy(path) as local:
            field = dataset.field
            is_wanted = (field("id") == wanted) | (field("uri") == scrubber.scrub_metadata(wanted))
            rows = dataset.dataset(local).to_table(filter=is_wanted).to_pylist()
        found += [DroppedDocument(**row) for row in rows]
    return found


def dropped_row(document: Document, step: str, drop: Drop) -> DroppedDocument:
    """Returns the row of a dropped document."""
    return DroppedDocument(document.id, document.source, document.uri, step, drop.reason, drop.match)
