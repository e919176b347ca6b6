"""Plain text files, each one document or one for each paragraph, and HTML files with one page each."""

from collections.abc import Iterator

from firth.corpus.documents.document import Document
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.file_contents import BoundedBytes, RawRecord, read_lines, read_whole
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import NO_FIELDS, read_or_reject, reject_empty
from firth.corpus.readers.encodings import blocks_of, decode_record
from firth.corpus.readers.pages import decode_page, extract_text
from firth.recipes.corpus.sources import HtmlSource, TextSource


@reject_empty
def read_text(source: TextSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the documents of a text file, and rejections for what cannot be read as text.

    A document is the whole file or a paragraph between blank lines, as the source says. The reasons of
    rejection are `empty`, `too_long`, those of `decode_record`, and those of `problem_of`.
    """
    blocks = blocks_of(source, file)
    if source.documents == "file":
        content, problem = read_whole(file.path, source.max_document_bytes, blocks)
        yield _decode(source, file, content.record(0, problem))
        return
    for paragraph in _paragraphs(file.path, source.max_document_bytes, blocks):
        yield _decode(source, file, paragraph)


def _paragraphs(path: str, max_bytes: int, blocks: Iterator[bytes]) -> Iterator[RawRecord]:
    """Yields each run of lines that are not blank, numbered by its first line."""
    first_line, content = 0, BoundedBytes(max_bytes)
    for line in read_lines(path, max_bytes, blocks):
        blank = line.problem is None and not line.data.strip()
        broken = line.problem not in (None, "too_long")
        if not blank:
            if first_line:
                content.extend(b"\n")
            first_line = first_line or line.number
            content.extend(line.data, line.size)
        if first_line and (blank or broken):
            yield content.record(first_line, line.problem)
            first_line, content = 0, BoundedBytes(max_bytes)
    if first_line:
        yield content.record(first_line)


def _decode(source: TextSource, file: SourceFile, record: RawRecord) -> Document | Rejection:
    return read_or_reject(
        lambda: (decode_record(source, file, record.data), NO_FIELDS), source, file.place, record
    )


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
