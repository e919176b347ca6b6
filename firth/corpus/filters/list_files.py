"""Files of entries, one a line, that filters read."""

from collections.abc import Iterator

from firth.corpus.documents.errors import CorpusError
from firth.corpus.io.lines import read_lines

_MAX_ENTRY_BYTES = 2**14


def read_list(path: str) -> Iterator[tuple[int, str]]:
    """Yields the lines that are not blank, with their numbers and without spaces around them."""
    nothing = True
    for line in read_lines(path, _MAX_ENTRY_BYTES):
        if line.problem:
            raise CorpusError(f"{path}, line {line.number}: {line.problem}")
        try:
            text = line.data.decode("utf-8-sig").strip()
        except UnicodeDecodeError:
            raise CorpusError(f"{path}, line {line.number}: invalid_utf8") from None
        if text:
            nothing = False
            yield line.number, text
    if nothing:
        raise CorpusError(f"{path} has no entry")
