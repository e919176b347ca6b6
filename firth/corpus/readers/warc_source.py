"""Web archives: pages as servers sent them (WARC and ARC), and their text (WET)."""

from collections.abc import Callable, Iterator

from firth.corpus.documents.document import Document
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.archive_formats import INFO
from firth.corpus.readers.archive_records import ArchiveRecord, read_archive
from firth.corpus.readers.decoding import Stated, decode_text, make_document, reject
from firth.corpus.readers.http_records import HTML_TYPES, read_page
from firth.corpus.readers.pages import decode_page, extract_text
from firth.recipes.corpus.sources import FileSource, WarcSource, WetSource

Read = Callable[[ArchiveRecord], tuple[str, str | None]]

# These records describe the file or other records and hold no text.
ABOUT_OTHERS = (INFO, "request", "metadata")


def read_warc(source: WarcSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the pages of an archive as documents, and rejections for the other responses.

    Records of the types warcinfo, request and metadata are skipped. The reasons of rejection are the problems
    of `ArchiveRecord`; `not_a_response`, for records of other types; those of `read_page` and `extract_text`;
    `undecodable`; and `empty`.

    Args:
        source: The source, as the recipe describes it.
        file: A WARC or ARC file of the source.
    """

    def read(record: ArchiveRecord) -> tuple[str, str | None]:
        if record.header.kind != "response":
            return "", "not_a_response"
        page, problem = read_page(record, source.max_document_bytes)
        if not page or problem:
            return "", problem
        text, problem = decode_page(page.body, page.charset)
        if not problem and page.content_type in HTML_TYPES:
            text, problem = extract_text(text, source.extractor)
        return text, problem or (None if text.strip() else "no_text")

    yield from _read_records(source, file.path, read)


def read_wet(source: WetSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the texts of a WET file as documents, and rejections for other records.

    The reasons of rejection are the problems of `ArchiveRecord`; `not_a_conversion`; `invalid_utf8`; and
    `empty`.

    Args:
        source: The source, as the recipe describes it.
        file: A WET file of the source.
    """

    def read(record: ArchiveRecord) -> tuple[str, str | None]:
        if record.header.kind != "conversion":
            return "", "not_a_conversion"
        return decode_text(record.block)

    yield from _read_records(source, file.path, read)


def _read_records(source: FileSource, path: str, read: Read) -> Iterator[Document | Rejection]:
    nothing = True
    for record in read_archive(path, source.max_document_bytes):
        outcome = _read_record(source, path, record, read)
        if outcome:
            nothing = False
            yield outcome
    if nothing:
        yield reject(source, path, 0, "empty", b"")


def _read_record(
    source: FileSource, path: str, record: ArchiveRecord, read: Read
) -> Document | Rejection | None:
    text, problem = "", record.problem
    if not problem:
        if record.header.kind in ABOUT_OTHERS:
            return None
        text, problem = read(record)
    if problem:
        return reject(source, path, record.number, problem, record.block, record.block_size)
    return make_document(source, f"{path}#R{record.number}", text, Stated(uri=record.header.uri))
