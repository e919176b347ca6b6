import os
import re
import typing

import pytest

from firth.corpus.documents.errors import SourceError
from firth.corpus.readers.sources import SOURCES, fingerprint, list_files
from firth.recipes.corpus.sources import AnySource, DocstringsSource, TextSource
from tests.corpus.readers.reading import outcomes


def test_the_table_and_the_recipe_types_agree():
    types = typing.get_args(typing.get_args(AnySource)[0])
    kinds = [typing.get_args(each.model_fields["kind"].annotation)[0] for each in types]
    assert sorted(SOURCES) == sorted(kinds)


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
    assert outcomes(source) == ["once"]


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
