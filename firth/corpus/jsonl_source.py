"""Files of one JSON object a line."""

import json
from collections.abc import Iterator

from firth.corpus.decoding import decode_text, make_document, problem_of_text, reject
from firth.corpus.document import Document
from firth.corpus.lines import Line, read_lines
from firth.corpus.rejection import Rejection
from firth.corpus.source_files import SourceFile, match_files
from firth.recipes.sources import JsonlSource


def list_jsonl_files(source: JsonlSource) -> list[SourceFile]:
    """Returns the files of a source.

    Raises:
        SourceError: if a pattern matches none.
    """
    return match_files(source.name, source.paths)


def read_jsonl(source: JsonlSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the documents of a file, and rejections for lines that hold none. Blank lines are no records.

    Reasons: those of `parse_line`, and `empty`, `too_long`, `invalid_utf8`, `truncated_gzip`,
    `corrupt_gzip`, `unreadable`.
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
        text, problem = parse_line(text, source.text_key)
    if problem:
        return reject(source, path, line.number, problem, line.data, line.size)
    return make_document(source, f"{path}#L{line.number}", text)


def parse_line(line: str, text_key: str) -> tuple[str, str | None]:
    r"""Returns the text of a JSON object, and the reason of rejection if there is none.

    Example:

    >>> parse_line('{"text": "Call me Ishmael."}', "text")
    ('Call me Ishmael.', None)
    >>> [parse_line(line, "text")[1] for line in ('{"text": 1}', '{"body": ""}', '["text"]', "{")]
    ['text_not_a_string', 'missing_text_key', 'not_an_object', 'malformed_json']
    >>> parse_line(r'{"text": "\ud800"}', "text")[1]
    'unpaired_surrogate'
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return "", "malformed_json"
    if not isinstance(record, dict):
        return "", "not_an_object"
    if text_key not in record:
        return "", "missing_text_key"
    text = record[text_key]
    if not isinstance(text, str):
        return "", "text_not_a_string"
    return text, problem_of_text(text)
