"""The table of the kinds of source."""

import json
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from firth.corpus.documents.document import Document
from firth.corpus.documents.hashing import digest
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.content_digests import content_digests
from firth.corpus.io.source_files import SourceFile, match_files
from firth.corpus.readers.csv_source import read_csv
from firth.corpus.readers.decoding import reject
from firth.corpus.readers.docstrings_source import list_python_files, read_docstrings
from firth.corpus.readers.jsonl_source import read_jsonl
from firth.corpus.readers.mediawiki_source import read_mediawiki
from firth.corpus.readers.parquet_source import read_arrow, read_parquet
from firth.corpus.readers.text_source import read_html, read_text
from firth.corpus.readers.tfrecord_source import read_tfrecord
from firth.corpus.readers.warc_source import read_warc, read_wet
from firth.corpus.readers.wikiextractor_source import read_wikiextractor
from firth.recipes.base.file_names import without_folders
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
    "csv": Reader(_match, read_csv),
    "arrow": Reader(_match, read_arrow),
    "parquet": Reader(_match, read_parquet),
    "warc": Reader(_match, read_warc),
    "wet": Reader(_match, read_wet),
    "html": Reader(_match, read_html),
    "mediawiki": Reader(_match, read_mediawiki),
    "wikiextractor": Reader(_match, read_wikiextractor),
    "tfrecord": Reader(_match, read_tfrecord),
    "docstrings": Reader(list_python_files, read_docstrings),
}
"""The readers of sources, by the kind in a recipe."""


def list_files(source: AnySource) -> list[SourceFile]:
    """Returns the files of a source, each once.

    Raises:
        SourceError: if a pattern matches no file, or a package is not installed.
    """
    return SOURCES[source.kind].list_files(source)


def read_file(source: AnySource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the documents and rejections of a file of a source."""
    if file.problem:
        yield reject(source, file.place, 0, file.problem, b"")
    else:
        yield from SOURCES[source.kind].read(source, file)


def fingerprint(sources: Sequence[AnySource]) -> str:
    """Returns 32 hexadecimal digits that change when the sources or the contents of their files change.

    It is the same wherever the files are, and whenever they were written.

    Args:
        sources: The sources of the recipe.

    Raises:
        SourceError: if a pattern matches no file, or a package is not installed.
    """
    parts: list[str] = []
    for source in sources:
        parts.append(json.dumps(without_folders(source), sort_keys=True))
        files = sorted(list_files(source), key=attrgetter("place"))
        digests = content_digests(files, in_bucket=source.trusts_buckets)
        for file, found in zip(files, digests, strict=True):
            # A file that cannot be read is a rejection.
            content = found.hex() if isinstance(found, bytes) else file.problem or "unreadable"
            parts += [file.place, content]
    return digest(*parts).hex()
