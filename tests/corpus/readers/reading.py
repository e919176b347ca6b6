"""Reads sources as the corpus does."""

from firth.corpus.documents.document import Document
from firth.corpus.readers.sources import SOURCES, list_files


def read(source) -> list:
    return [record for file in list_files(source) for record in SOURCES[source.kind].read(source, file)]


def outcomes(source) -> list:
    return [each.text if isinstance(each, Document) else (each.line, each.reason) for each in read(source)]
