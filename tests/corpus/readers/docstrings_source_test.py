import sys

import pytest

from firth.corpus.documents.document import Document
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.sources import SOURCES, list_files
from firth.recipes.corpus.sources import DocstringsSource

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
    assert rejected == [("moby/moby.broken", 1, "malformed_python")]
    assert "moby" not in sys.modules


def test_a_module_nested_too_deeply_is_rejected(tmp_path):
    path = tmp_path / "deep.py"
    path.write_text("-" * 100_000 + "1")
    source = DocstringsSource(kind="docstrings", packages=("moby",), standard_library=False)
    (record,) = SOURCES["docstrings"].read(source, SourceFile(str(path), "moby/deep"))
    assert record.reason == "malformed_python"
