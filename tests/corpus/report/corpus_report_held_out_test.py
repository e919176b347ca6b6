"""The share that is held out, next to what was asked for."""

import pytest

from firth.corpus.report.corpus_report import measure_held_out
from firth.recipes.corpus.cleaning import Cleaning, Split
from firth.recipes.reading.loading import load_recipe
from firth.recipes.reading.requirements import notices
from tests.corpus.helpers import clean, document


def test_three_books_of_which_one_is_held_out_are_warned_of(tmp_path):
    books = [document(f"book {i} " * size, f"{i}") for i, size in enumerate((300, 200, 210))]
    found = clean(tmp_path, books, Cleaning(steps=(), split=Split(eval_fraction=0.05)))["held_out"]
    assert found["asked"] == 0.05 and found["documents"] == pytest.approx(1 / 3)
    assert found["words"] > 0.25
    assert f"{found['words']:.3g} of the words" in found["warning"]
    assert "eval_fraction is 0.05, but 1 of 3 documents is held out" in found["warning"]


@pytest.mark.parametrize(("held", "warns"), [(5, False), (10, False), (11, True), (2, True), (3, False)])
def test_a_share_twice_or_half_as_large_as_asked_for_is_the_border(held, warns):
    parts = {"eval": held, "train": 100 - held}
    rows = [{"split": each, "documents": n, "bytes": n, "words": n} for each, n in parts.items()]
    assert bool(measure_held_out(rows, 0.05)["warning"]) is warns


def test_few_files_are_warned_of_before_anything_runs(tmp_path):
    def said(*more, **source) -> list[str]:
        sources = [{"kind": "text", "paths": [f"{tmp_path}/**/*.txt", *more], **source}]
        recipe = load_recipe("bert_tiny")
        kinds = type(recipe).model_validate({**recipe.model_dump(), "sources": tuple(sources)}, strict=False)
        return [each for each in notices(kinds) if "eval_fraction" in each]

    (tmp_path / "deep").mkdir()
    (tmp_path / "empty.txt").write_text("")
    for i, size in enumerate((100, 300, 600)):
        (tmp_path / "deep" / f"{i}.txt").write_text("x" * size)
        if not i:
            assert "a single document" in said()[0]
    (notice,) = said()
    assert "0.05 of 3 documents" in notice and "0.1 to 0.6 of the bytes" in notice
    assert not said(documents="blank_line") and not said("gs://bucket/*.txt")
    for i in range(20):
        (tmp_path / f"more{i}.txt").write_text("x" * 100)
    assert not said()
