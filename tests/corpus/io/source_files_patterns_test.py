"""Patterns of files in any folders: their names, what cannot be read, and file systems that are not there."""

import os
import pathlib
import shutil
import tempfile

import pytest

from firth.corpus.documents.errors import SourceError
from firth.corpus.io.source_files import match_files


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("a/**/*.txt", ["a/1.txt", "a/b/2.txt", "a/b/c/3.txt"]),
        ("**/c/**/*.txt", ["a/b/c/3.txt"]),
        ("a/**/c/*.txt", ["a/b/c/3.txt"]),
        ("a/**/b/**/*.txt", ["a/b/2.txt", "a/b/c/3.txt"]),
        ("a/*.txt", ["a/1.txt"]),
    ],
)
def test_two_stars_stand_for_any_folders_or_none(tmp_path, pattern, found):
    for name in ("a/1.txt", "a/b/2.txt", "a/b/c/3.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Text.")
    files = match_files("docs", (f"{tmp_path}/{pattern}",))
    assert [each.path for each in files] == [f"{tmp_path}/{each}" for each in found]
    fixed = pattern.partition("*")[0]
    assert [each.name for each in files] == [each.removeprefix(fixed) for each in found]


def test_names_are_those_below_the_patterns_and_differ(tmp_path):
    for name in ("train/1.txt", "train/2.txt", "dev[1]/1.txt", "test/2:1.txt", "test/1.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Text.")
    (tmp_path / "test").joinpath(os.fsdecode(b"caf\xe9.txt")).write_text("Text.")
    patterns = ("train/*.txt", "dev[[]1]/1.txt", "train/1.*", "test/2:1.txt", "test/*.txt")
    files = match_files("docs", [f"{tmp_path}/{each}" for each in patterns])
    assert {os.path.relpath(each.path, tmp_path): each.name for each in files} == {
        "train/1.txt": "1.txt",
        "train/2.txt": "2.txt",
        "dev[1]/1.txt": "2:1.txt",
        "test/2:1.txt": "4:2:1.txt",
        "test/1.txt": "5:1.txt",
        os.fsdecode(b"test/caf\xe9.txt"): "caf\\xe9.txt",
    }


@pytest.fixture
def unreadable():
    """A folder of files, links and pipes of which one part may not be read, as seen without root's rights."""
    folder = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))
    for name in ("1.txt", "notes.txt/2.txt", "secret/3.txt", "linked/4.txt", "other.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("Text.")
    (folder / "gone.txt").symlink_to(folder / "nothing")
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    (folder / "above").symlink_to(folder)
    (folder / "away").symlink_to(folder / "nothing")
    os.mkfifo(folder / "pipe.txt")
    for each in (folder, *folder.rglob("*")):
        if each.is_dir():
            each.chmod(0o755)
    (folder / "secret").chmod(0o000)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    yield folder
    if root:
        os.seteuid(0)
    (folder / "secret").chmod(0o755)
    shutil.rmtree(folder)


HERE = {"1.txt": "", "gone.txt": "broken_link", "loop.txt": "broken_link", "notes.txt": "folder"}
PIPE, SECRET = {"pipe.txt": "not_a_file"}, {"secret": "unreadable_folder"}
LINKS = dict.fromkeys(("away", "gone.txt", "loop.txt"), "broken_link")
BELOW = {"linked/4.txt": "", "notes.txt/2.txt": ""}


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.txt", {**HERE, **PIPE}),
        ("**/*.txt", {**HERE, **PIPE, **SECRET, **BELOW}),
        ("*/?.txt", {**BELOW, **SECRET, **LINKS, "above/1.txt": ""}),
        ("[1p]*.txt", {"1.txt": "", **PIPE}),
        ("linked/4.txt", {"4.txt": ""}),
    ],
)
def test_what_a_pattern_matches_and_cannot_be_read_has_a_reason(unreadable, pattern, found):
    files = match_files("docs", (f"{unreadable}/{pattern}",))
    assert {each.name: each.problem for each in files} == found


@pytest.mark.parametrize("pattern", ["secret/*.txt", "secret/3.txt", "se*t/*.txt", "gone.txt", "gon*.txt"])
def test_a_pattern_of_nothing_that_can_be_read_says_why(unreadable, pattern):
    problem = "broken_link: 1" if pattern.startswith("g") else "unreadable_folder: 1"
    with pytest.raises(SourceError, match=f"'docs'.*{problem}"):
        match_files("docs", (f"{unreadable}/{pattern}",))


@pytest.mark.parametrize("pattern", ["hf://datasets/a/b.jsonl", "https://example.org/a.jsonl"])
def test_a_file_system_that_is_not_there_is_named_with_its_source(pattern):
    with pytest.raises(SourceError, match=f"'web': '{pattern}'"):
        match_files("web", (pattern,))
