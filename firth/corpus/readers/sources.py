"""The table of the kinds of source."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from firth.corpus.documents.document import Document
from firth.corpus.documents.hashing import digest
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.source_files import SourceFile, match_files
from firth.corpus.readers.docstrings_source import list_python_files, read_docstrings
from firth.corpus.readers.html_source import read_html
from firth.corpus.readers.jsonl_source import read_jsonl
from firth.corpus.readers.parquet_source import read_parquet
from firth.corpus.readers.text_source import read_text
from firth.corpus.readers.tfrecord_source import read_tfrecord
from firth.corpus.readers.warc_source import read_warc, read_wet
from firth.corpus.readers.wikiextractor_source import read_wikiextractor
from firth.recipes.corpus.sources import AnySource, FileSource


class Reader(NamedTuple):
    """The functions that read a kind of source.

    Attributes:
        list_files: Returns the files of a source. It raises SourceError if a file or package does not exist.
        read: Yields the documents and rejections of one of these files.
    """

    list_files: Callable[[Any], list[SourceFile]]
    read: Callable[[Any, SourceFile], Iterator[Document | Rejection]]


def _match(source: FileSource) -> list[SourceFile]:
    return match_files(source.name, source.paths)


SOURCES: dict[str, Reader] = {
    "text": Reader(_match, read_text),
    "jsonl": Reader(_match, read_jsonl),
    "parquet": Reader(_match, read_parquet),
    "warc": Reader(_match, read_warc),
    "wet": Reader(_match, read_wet),
    "html": Reader(_match, read_html),
    "wikiextractor": Reader(_match, read_wikiextractor),
    "tfrecord": Reader(_match, read_tfrecord),
    "docstrings": Reader(list_python_files, read_docstrings),
}


def list_files(source: AnySource) -> list[SourceFile]:
    """Returns the files of a source, each once.

    Args:
        source: The source, as the recipe describes it.

    Raises:
        SourceError: if a pattern matches no file, or a package is not installed.
    """
    return SOURCES[source.kind].list_files(source)


def fingerprint(sources: Sequence[AnySource]) -> str:
    """Returns 32 hexadecimal digits that change when the sources or their files change.

    A file counts as changed if its path, size or time of modification has changed.

    Args:
        sources: The sources of the recipe.

    Raises:
        SourceError: if a pattern matches no file, or a package is not installed.
    """
    parts: list[str] = []
    for source in sources:
        parts.append(source.to_json())
        parts += [repr((file.path, file.size, file.modified)) for file in list_files(source)]
    return digest(*parts).hex()
