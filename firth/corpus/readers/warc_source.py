"""Web archives: pages as servers sent them (WARC and ARC), and their text (WET)."""

from collections.abc import Callable, Iterator
from typing import Any

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import UnreadableError
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.file_contents import RawRecord
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.archive_records import INFO, ArchiveRecord, read_archive
from firth.corpus.readers.decoding import StatedFields, decode_text, metadata_of, read_or_reject, reject_empty
from firth.corpus.readers.http_records import HTML_TYPES, read_page
from firth.corpus.readers.pages import decode_page, extract_text
from firth.recipes.corpus.sources import DescribedSource, WarcSource, WetSource

# Function from a source and a record to its text.
Read = Callable[[Any, ArchiveRecord], str]

# Types of records that describe the file or other records and have no text.
ABOUT_OTHERS = (INFO, "request", "metadata")
# The key of metadata that is not a field of a header.
OFFSET = "offset"


@reject_empty
def read_warc(source: WarcSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the pages of an archive as documents, and rejections for the other responses.

    Records of the types warcinfo, request and metadata are skipped. The reasons of rejection are the problems
    of `ArchiveRecord`; `not_a_response`, for records of other types; those of `read_page` and `extract_text`;
    `undecodable`; and `empty`.
    """
    yield from _read_records(source, file, _page_of)


def _page_of(source: WarcSource, record: ArchiveRecord) -> str:
    if record.header.kind != "response":
        raise UnreadableError("not_a_response")
    page = read_page(record, source.max_document_bytes)
    text = decode_page(page.body, page.charset)
    if page.content_type in HTML_TYPES:
        return extract_text(text, source.extractor)
    if not text.strip():
        raise UnreadableError("no_text")
    return text


@reject_empty
def read_wet(source: WetSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the texts of a WET file as documents, and rejections for other records.

    The reasons of rejection are the problems of `ArchiveRecord`; `not_a_conversion`; `invalid_utf8`; and
    `empty`.
    """
    yield from _read_records(source, file, _conversion_of)


def _conversion_of(source: WetSource, record: ArchiveRecord) -> str:
    if record.header.kind != "conversion":
        raise UnreadableError("not_a_conversion")
    return decode_text(record.block)


def _read_records(source: DescribedSource, file: SourceFile, read: Read) -> Iterator[Document | Rejection]:
    for record in read_archive(file.path, source.max_document_bytes):
        if record.problem or record.header.kind not in ABOUT_OTHERS:
            yield _read_record(source, file.place, record, read)


def _read_record(
    source: DescribedSource, path: str, record: ArchiveRecord, read: Read
) -> Document | Rejection:
    block = RawRecord(record.number, record.block, record.block_size, record.problem)
    fields = record.header.fields
    values: dict[str, Any] = (
        {key: fields.first(key) or None for key in source.metadata_keys} if fields else {}
    )
    values[OFFSET] = record.offset
    metadata = metadata_of(source.metadata_keys, values)
    stated, place = StatedFields(uri=record.header.uri, metadata=metadata), f"{path}#R{record.number}"
    return read_or_reject(lambda: (read(source, record), stated), source, path, block, place)
