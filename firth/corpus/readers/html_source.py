"""HTML files with one page each."""

from collections.abc import Iterator

from firth.corpus.documents.document import Document
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.file_contents import read_whole
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import NO_FIELDS, read_or_reject
from firth.corpus.readers.pages import decode_page, extract_text
from firth.recipes.corpus.sources import HtmlSource


def read_html(source: HtmlSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the document of a page, or its rejection.

    The reasons of rejection are `empty`, `too_long`, `undecodable`, and those of `extract_text` and
    `problem_of`.
    """
    content, problem = read_whole(file.path, source.max_document_bytes)
    record = content.record(0, problem or (None if content.data.strip() else "empty"))
    yield read_or_reject(
        lambda: (extract_text(decode_page(record.data), source.extractor), NO_FIELDS),
        source,
        file.place,
        record,
    )
