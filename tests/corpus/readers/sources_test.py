import os
import re
import shutil
import typing

import pytest

from firth.corpus.documents.errors import SourceError
from firth.corpus.io import content_digests
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


def test_the_fingerprint_is_that_of_contents_and_names(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path}/cache")
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    (here / "a.txt").write_text("one")
    (here / "b.txt").write_text("two")
    source = TextSource(kind="text", paths=(f"{here}/*.txt",))
    first = fingerprint([source])
    os.utime(here / "a.txt", (1, 1))
    shutil.copytree(here, there)
    moved = source.model_copy(update={"paths": (f"{there}/*.txt",)})
    assert fingerprint([source]) == fingerprint([moved]) == first
    seen = [first]
    for name, text in (("a.txt", "six"), ("c.txt", "one")):
        (here / name).write_text(text)
        os.utime(here / name, (1, 1))
        seen.append(fingerprint([source]))
    (here / "c.txt").rename(here / "d.txt")
    seen.append(fingerprint([source]))
    (here / "e.txt").symlink_to(here / "nothing")
    seen.append(fingerprint([source]))
    seen.append(fingerprint([source.model_copy(update={"documents": "blank_line"})]))
    assert len(set(seen)) == 6


def test_only_files_that_may_have_changed_are_read_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path}/cache")
    monkeypatch.setattr("firth.corpus.io.content_digests._SETTLED_SECONDS", 0.0)
    read = []
    monkeypatch.setattr(
        content_digests,
        "content_digest",
        lambda path, digest=content_digests.content_digest: (read.append(path), digest(path))[1],
    )
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text("one")
    source = TextSource(kind="text", paths=(f"{tmp_path}/*.txt",))
    times = os.stat(tmp_path / "a.txt").st_mtime_ns
    first = fingerprint([source])
    assert len(read) == 3 and fingerprint([source]) == first and len(read) == 3
    # The same size and the same time, in the file itself and in another one that takes its place.
    (tmp_path / "a.txt").write_text("two")
    os.utime(tmp_path / "a.txt", ns=(times, times))
    second = fingerprint([source])
    assert second != first and read[3:] == [f"{tmp_path}/a.txt"]
    (tmp_path / "other").write_text("one")
    os.utime(tmp_path / "other", ns=(times, times))
    (tmp_path / "other").replace(tmp_path / "a.txt")
    assert fingerprint([source]) == first and len(read) == 5
    (tmp_path / "cache" / "firth" / "digests.sqlite").write_bytes(b"no database")
    assert fingerprint([source]) == first and len(read) == 8
