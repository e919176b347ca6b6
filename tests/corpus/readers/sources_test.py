import gzip
import os
import re
import sys
import typing

import pytest

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import SourceError
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.python_packages import standard_library_files
from firth.corpus.readers.sources import SOURCES, fingerprint, list_files
from firth.recipes.corpus.sources import AnySource, DocstringsSource, JsonlSource, TextSource


def read(source) -> list:
    """Returns texts, and (line, reason) of rejections, in order of reading."""
    records = [record for file in list_files(source) for record in SOURCES[source.kind].read(source, file)]
    return [each.text if isinstance(each, Document) else (each.line, each.reason) for each in records]


def test_the_table_and_the_recipe_types_agree():
    types = typing.get_args(typing.get_args(AnySource)[0])
    kinds = [typing.get_args(each.model_fields["kind"].annotation)[0] for each in types]
    assert sorted(SOURCES) == sorted(kinds)


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
    assert read(source) == TEXT[content]


def test_text_between_blank_lines(tmp_path):
    content = b"\none\ntwo\r\n \t\n\nthree\n\nbad\xff\n\n" + b"x" * 30 + b"\nmore\n\nlast"
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(content))
    source = TextSource(
        kind="text", paths=(f"{tmp_path}/a.txt.gz",), documents="blank_line", max_document_bytes=20
    )
    assert read(source) == ["one\ntwo\r", "three", (8, "invalid_utf8"), (10, "too_long"), "last"]
    (file,) = list_files(source)
    uris = [each.uri for each in SOURCES["text"].read(source, file) if isinstance(each, Document)]
    assert uris == [f"{tmp_path}/a.txt.gz#L{line}" for line in (2, 6, 13)]


JSONL = {
    b'{"text": "Hi.", "n": 1}\n\n{"text": "Ho."}': ["Hi.", "Ho."],
    b'{"text": "cut': [(1, "malformed_json")],
    b"[1]\n": [(1, "not_an_object")],
    b'{"txt": ""}\n': [(1, "missing_text_key")],
    b'{"text": ["a"]}\n{"text": null}': [(1, "text_not_a_string"), (2, "text_not_a_string")],
    b'{"text": "\\ud800"}': [(1, "unpaired_surrogate")],
    b'{"text": " "}': [(1, "empty")],
    b'{"text": "\xff"}\n{"text": "after"}': [(1, "invalid_utf8"), "after"],
    b"[" * 99: [(1, "malformed_json")],
    b'{"text": "' + b"x" * 200 + b'"}\n{"text": "after"}': [(1, "too_long"), "after"],
    b"": [(0, "empty")],
}


@pytest.mark.parametrize("content", JSONL)
def test_jsonl(tmp_path, content):
    (tmp_path / "a.jsonl").write_bytes(content)
    source = JsonlSource(kind="jsonl", paths=(f"{tmp_path}/*.jsonl",), max_document_bytes=100)
    assert read(source) == JSONL[content]


def test_jsonl_text_key(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"body": "Hi."}')
    assert read(JsonlSource(kind="jsonl", paths=(f"{tmp_path}/*",), text_key="body")) == ["Hi."]


PACKAGE = '''
"""Module."""
import os
raise RuntimeError("imported")

class Whale:
    """
    A whale.

        Indented.
    """
    def swim(self):
        """Swims."""
        def inner():
            """Inner."""

try:
    def breathe():
        """First."""
except ImportError:
    def breathe():
        """Second."""
    def silent(): ""

match os.name:
    case "posix":
        async def spout(): "Spouts."
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    (tmp_path / "moby" / "tests").mkdir(parents=True)
    (tmp_path / "moby" / "__init__.py").write_text(PACKAGE)
    (tmp_path / "moby" / "broken.py").write_text("def f(:\n")
    (tmp_path / "moby" / "latin.py").write_bytes(b'# coding: latin-1\n"""Caf\xe9."""')
    (tmp_path / "moby" / "tests" / "test_moby.py").write_text('"""Left out."""')
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "moby"


def test_docstrings(package):
    source = DocstringsSource(kind="docstrings", packages=("moby",), standard_library=False)
    records = [record for file in list_files(source) for record in SOURCES["docstrings"].read(source, file)]
    documents = {each.uri: each.text for each in records if isinstance(each, Document)}
    assert documents == {
        "docstring:moby/moby": "Module.",
        "docstring:moby/moby.Whale": "A whale.\n\n    Indented.",
        "docstring:moby/moby.Whale.swim": "Swims.",
        "docstring:moby/moby.Whale.swim.inner": "Inner.",
        "docstring:moby/moby.breathe": "First.",
        "docstring:moby/moby.breathe#2": "Second.",
        "docstring:moby/moby.spout": "Spouts.",
        "docstring:moby/moby.latin": "Café.",
    }
    rejected = [(each.file, each.line, each.reason) for each in records if not isinstance(each, Document)]
    assert rejected == [(str(package / "broken.py"), 1, "malformed_python")]
    assert "moby" not in sys.modules


def test_a_module_nested_too_deeply_is_rejected(tmp_path):
    path = tmp_path / "deep.py"
    path.write_text("-" * 100_000 + "1")
    source = DocstringsSource(kind="docstrings", packages=("moby",), standard_library=False)
    (record,) = SOURCES["docstrings"].read(source, SourceFile(str(path), "moby/deep"))
    assert record.reason == "malformed_python"


def test_standard_library():
    files = {file.name: file for file in standard_library_files()}
    assert {"python/json", "python/json.decoder", "python/argparse"} <= set(files)
    assert not [name for name in files if ".tests." in name]
    records = SOURCES["docstrings"].read(DocstringsSource(kind="docstrings"), files["python/textwrap"])
    uris = {each.uri for each in records if isinstance(each, Document)}
    assert "docstring:python/textwrap.dedent" in uris


HERE = os.path.dirname(__file__)
MISSING: dict[str, tuple[AnySource, str]] = {
    "a pattern without files": (
        TextSource(kind="text", paths=("/nowhere/*.txt",)),
        "no file matches '/nowhere",
    ),
    "a slip in a folder's name": (
        TextSource(kind="text", paths=(f"{HERE[:-1]}/*_test.py",)),
        f"did you mean {HERE}/*_test.py?",
    ),
    "a folder": (TextSource(kind="text", paths=(HERE,)), "is a folder"),
    "a distribution": (DocstringsSource(kind="docstrings", packages=("PyYAML",)), "imported as 'yaml'"),
    "a slip": (DocstringsSource(kind="docstrings", packages=("pandsa",)), "did you mean 'pandas'"),
    "no python": (DocstringsSource(kind="docstrings", packages=("_ctypes",)), "has no .py file"),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_sources(name):
    source, message = MISSING[name]
    with pytest.raises(SourceError, match=re.escape(message)) as error:
        list_files(source)
    assert repr(source.name) in str(error.value)


def test_a_file_that_two_patterns_match_is_read_once(tmp_path):
    (tmp_path / "a.txt").write_text("once")
    source = TextSource(kind="text", paths=(f"{tmp_path}/*.txt", f"{tmp_path}/a.*"))
    assert read(source) == ["once"]


def test_fingerprint(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    source = TextSource(kind="text", paths=(f"{tmp_path}/*.txt",))
    seen = [fingerprint([source])]
    assert fingerprint([source]) == seen[0]
    (tmp_path / "a.txt").write_text("other")
    seen.append(fingerprint([source]))
    os.utime(tmp_path / "a.txt", (1, 1))
    seen.append(fingerprint([source]))
    (tmp_path / "b.txt").write_text("new")
    seen.append(fingerprint([source]))
    seen.append(fingerprint([source.model_copy(update={"documents": "blank_line"})]))
    assert len(set(seen)) == 5
