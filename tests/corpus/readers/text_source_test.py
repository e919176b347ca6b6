import gzip

import pytest

from firth.corpus.documents.document import Document
from firth.corpus.readers.sources import SOURCES, list_files
from firth.recipes.corpus.sources import TextSource
from tests.corpus.readers.reading import outcomes

TEXT = {
    b"Call me Ishmael.\n": ["Call me Ishmael.\n"],
    b"\xef\xbb\xbfwith a mark": ["with a mark"],
    b"": [(0, "empty")],
    b" \n\t": [(0, "empty")],
    b"bad \xff": [(0, "invalid_utf8")],
    b"x" * 101: [(0, "too_long")],
}


@pytest.mark.parametrize("content", TEXT)
def test_text_a_document_a_file(tmp_path, content):
    (tmp_path / "a.txt").write_bytes(content)
    source = TextSource(kind="text", paths=(f"{tmp_path}/*.txt",), max_document_bytes=100)
    assert outcomes(source) == TEXT[content]


def test_text_between_blank_lines(tmp_path):
    content = b"\none\ntwo\r\n \t\n\nthree\n\nbad\xff\n\n" + b"x" * 30 + b"\nmore\n\nlast"
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(content))
    source = TextSource(
        kind="text", paths=(f"{tmp_path}/a.txt.gz",), documents="blank_line", max_document_bytes=20
    )
    assert outcomes(source) == ["one\ntwo\r", "three", (8, "invalid_utf8"), (10, "too_long"), "last"]
    (file,) = list_files(source)
    uris = [each.uri for each in SOURCES["text"].read(source, file) if isinstance(each, Document)]
    assert uris == [f"a.txt.gz#L{line}" for line in (2, 6, 13)]
