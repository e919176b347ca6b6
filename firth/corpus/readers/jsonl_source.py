"""Files with one JSON object on each line."""

import json
from collections.abc import Iterator
from typing import Any

from firth.corpus.documents.document import Document
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.lines import Line, read_lines
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import decode_text, make_document, reject
from firth.corpus.readers.fields import read_fields
from firth.recipes.corpus.sources import JsonlSource


def read_jsonl(source: JsonlSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the documents of a file, and rejections for lines without one. Blank lines are skipped.

    The reasons of rejection are `empty`, `too_long`, `invalid_utf8`, and those of `parse_line`, `read_fields`
    and `problem_of`.

    Args:
        source: The source, which names the keys.
        file: A file of the source.
    """
    nothing = True
    for line in read_lines(file.path, source.max_document_bytes):
        if line.problem is None and not line.data.strip():
            continue
        nothing = False
        yield _read_line(source, file.path, line)
    if nothing:
        yield reject(source, file.path, 0, "empty", b"")


def _read_line(source: JsonlSource, path: str, line: Line) -> Document | Rejection:
    text, problem = "", line.problem
    if not problem:
        text, problem = decode_text(line.data)
    if not problem:
        record, problem = parse_line(text)
    if not problem:
        text, stated, problem = read_fields(source, record)
    if problem:
        return reject(source, path, line.number, problem, line.data, line.size)
    return make_document(source, f"{path}#L{line.number}", text, stated)


def parse_line(line: str) -> tuple[dict[str, Any], str | None]:
    """Returns a JSON object, and the reason of rejection or None: `malformed_json` or `not_an_object`.

    Args:
        line: A line of text.

    Example:

    >>> parse_line('{"text": "Call me Ishmael."}')
    ({'text': 'Call me Ishmael.'}, None)
    >>> parse_line('["text"]')[1], parse_line("{")[1]
    ('not_an_object', 'malformed_json')
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}, "malformed_json"
    return (record, None) if isinstance(record, dict) else ({}, "not_an_object")
