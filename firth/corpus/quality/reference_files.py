"""Reading of reference texts from files outside the corpus, on Beam."""

import dataclasses
from collections.abc import Iterator, Sequence

import apache_beam as beam
from apache_beam.pvalue import PCollection

from firth.corpus.documents.batching import in_batches
from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import SourceError
from firth.corpus.io.source_files import SourceFile
from firth.corpus.privacy.excerpts import scrubber_for
from firth.corpus.readers.sources import list_files, read_file
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import AnySource

DOCUMENTS_A_BATCH = 1000


def reference_name(source: AnySource) -> str:
    """Returns the name of a reference as a source of documents.

    It has a space, so that it differs from the names of a recipe's sources.
    """
    return f"reference {source.name}"


@beam.ptransform_fn
def ReadReference(pipeline: beam.Pipeline, sources: Sequence[AnySource]) -> PCollection[list[Document]]:
    """Reads sources that are not part of the corpus, as lists of documents.

    Raises:
        SourceError: when applied, if a source has no file; on a worker, if a record cannot be read, since
            its absence would go unnoticed; the message names file and line.
    """
    files = [(source, file) for source in sources for file in list_files(source)]
    return pipeline | "Files" >> beam.Create(files) | "Read" >> beam.FlatMapTuple(_read)


def _read(source: AnySource, file: SourceFile) -> Iterator[list[Document]]:
    return in_batches(_documents(source, file), DOCUMENTS_A_BATCH)


def _documents(source: AnySource, file: SourceFile) -> Iterator[Document]:
    for record in read_file(source, file):
        if not isinstance(record, Document):
            place = f"{record.file}:{record.line}"
            excerpt = record.excerpt(scrubber_for(Cleaning()))
            raise SourceError(f"{reference_name(source)!r}: {place}: {record.reason}: {excerpt}")
        yield dataclasses.replace(record, source=reference_name(source))
