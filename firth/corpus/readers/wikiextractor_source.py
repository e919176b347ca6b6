"""Wikipedia's articles in the format of WikiExtractor."""

import dataclasses
import re
from collections.abc import Iterator

from firth.corpus.documents.document import Document
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.file_contents import BoundedBytes, RawRecord, read_lines
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import (
    StatedFields,
    decode_text,
    decode_utf8,
    read_or_reject,
    reject_empty,
)
from firth.recipes.corpus.sources import WikiextractorSource

_URL = re.compile(rb'\burl="([^"]*)"')


@dataclasses.dataclass
class _Part:
    """An article, or a part of the file outside of articles."""

    line: int
    url: bytes | None
    content: BoundedBytes


@reject_empty
def read_wikiextractor(source: WikiextractorSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the articles of a file, and rejections for what is not an article.

    The reasons of rejection are `empty`, `too_long`, `invalid_utf8`, `unclosed_document`,
    `outside_documents`, and those of `problem_of`.
    """
    for part, problem in _parts(file.path, source.max_document_bytes):
        yield _read_part(source, file.place, part, problem)


def _parts(path: str, max_bytes: int) -> Iterator[tuple[_Part, str | None]]:
    part: _Part | None = None
    for line in read_lines(path, max_bytes):
        begins, ends = line.data.startswith(b"<doc "), line.data.rstrip() == b"</doc>"
        if part and begins:
            yield part, "unclosed_document" if part.url is not None else "outside_documents"
            part = None
        if begins and not line.problem:
            part = _Part(line.number, _url_of(line), BoundedBytes(max_bytes))
        elif part and ends and part.url is not None:
            yield part, None
            part = None
        elif part or line.problem or line.data.strip():
            part = part or _Part(line.number, None, BoundedBytes(max_bytes))
            part.content.extend(line.data, line.size)
            part.content.extend(b"\n")
            if line.problem not in (None, "too_long"):
                yield part, line.problem
                return
    if part:
        yield part, "unclosed_document" if part.url is not None else "outside_documents"


def _url_of(line: RawRecord) -> bytes:
    found = _URL.search(line.data)
    return found[1] if found else b""


def _read_part(
    source: WikiextractorSource, path: str, part: _Part, problem: str | None
) -> Document | Rejection:
    record = part.content.record(part.line, problem)

    def read() -> tuple[str, StatedFields]:
        return decode_text(record.data.strip(b"\n")), StatedFields(uri=decode_utf8(part.url or b""))

    return read_or_reject(read, source, path, record)
