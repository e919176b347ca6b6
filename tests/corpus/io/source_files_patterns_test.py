"""Patterns of files in any folders, and on file systems that are not there."""

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


@pytest.mark.parametrize("pattern", ["hf://datasets/a/b.jsonl", "https://example.org/a.jsonl"])
def test_a_file_system_that_is_not_there_is_named_with_its_source(pattern):
    with pytest.raises(SourceError, match=f"'web': '{pattern}'"):
        match_files("web", (pattern,))
