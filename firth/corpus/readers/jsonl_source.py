"""Files with one JSON object on each line."""

import json
from collections.abc import Iterator
from typing import Any

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import UnreadableError
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.file_contents import RawRecord, read_lines
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import StatedFields, read_fields, read_or_reject, reject_empty
from firth.corpus.readers.encodings import blocks_of, decode_record
from firth.recipes.corpus.sources import JsonlSource


@reject_empty
def read_jsonl(source: JsonlSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the documents of a file, and rejections for lines without one. Blank lines are skipped.

    The reasons of rejection are `empty`, `too_long`, and those of `decode_record`, `parse_line`,
    `read_fields` and `problem_of`.
    """
    for line in read_lines(file.path, source.max_document_bytes, blocks_of(source, file)):
        if line.problem is None and not line.data.strip():
            continue
        yield _read_line(source, file, line)


def _read_line(source: JsonlSource, file: SourceFile, line: RawRecord) -> Document | Rejection:
    def read() -> tuple[str, StatedFields]:
        return read_fields(source, parse_line(decode_record(source, file, line.data)))

    return read_or_reject(read, source, file.place, line)


def parse_line(line: str) -> dict[str, Any]:
    """Returns a JSON object.

    Example:

    >>> parse_line('{"text": "Call me Ishmael."}')
    {'text': 'Call me Ishmael.'}
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise UnreadableError("malformed_json") from None
    if not isinstance(record, dict):
        raise UnreadableError("not_an_object")
    return record
