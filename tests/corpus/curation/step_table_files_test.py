"""The digest of the files of steps depends on path and content, wherever in the cleaning they are named."""

import os

import pytest

from firth.corpus import CorpusError, files_digest
from firth.recipes import (
    BadWordsStep,
    Cleaning,
    DecontaminateStep,
    JsonlBenchmark,
    LengthStep,
    NearDuplicatesStep,
    UrlList,
    UrlListsStep,
    WordList,
)


@pytest.fixture
def cleaning(tmp_path):
    (tmp_path / "words.txt").write_text("damn\n")
    for name in ("block", "allow"):
        (tmp_path / name).write_text("a.example\n")
    (tmp_path / "exam.jsonl").write_text('{"text": "What is a whale?"}\n')
    words = BadWordsStep(kind="bad_words", lists=(WordList(path=f"{tmp_path}/words.txt"),))
    exam = JsonlBenchmark(kind="jsonl", name="exam", paths=(f"{tmp_path}/*.jsonl",))
    urls = UrlListsStep(
        kind="url_lists", block=(UrlList(path=f"{tmp_path}/block"),), allow=(f"{tmp_path}/allow",)
    )
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "a").write_text("one")
    steps = (
        LengthStep(kind="length"),
        NearDuplicatesStep(kind="near_duplicates", earlier=(f"{tmp_path}/earlier/*",)),
        urls,
        words,
        DecontaminateStep(kind="decontaminate", benchmarks=(exam,)),
    )
    return Cleaning(steps=steps)


def test_a_changed_content_counts_and_a_changed_time_does_not(cleaning, tmp_path):
    before = files_digest(cleaning)
    os.utime(tmp_path / "words.txt", (0, 0))
    assert files_digest(cleaning) == before
    seen = {before}
    for name in ("words.txt", "exam.jsonl", "another.jsonl", "block", "allow", "earlier/a", "earlier/b"):
        (tmp_path / name).write_text("heck\n")
        seen.add(files_digest(cleaning))
    assert len(seen) == 8


def test_a_missing_file_is_named(cleaning, tmp_path):
    (tmp_path / "words.txt").unlink()
    with pytest.raises(CorpusError, match=r"words\.txt"):
        files_digest(cleaning)
    (tmp_path / "exam.jsonl").unlink()
    with pytest.raises(CorpusError, match="no file matches"):
        files_digest(cleaning.model_copy(update={"steps": cleaning.steps[4:]}))
