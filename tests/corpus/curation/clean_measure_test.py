"""Distributions of what steps measure, and a cleaning that only measures."""

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.recipes.corpus.cleaning import CharactersStep, Cleaning, LengthStep, Split
from firth.recipes.corpus.duplicates import ExactDuplicatesStep
from firth.recipes.corpus.filters import FineWebStep, GopherQualityStep, LanguageStep
from tests.corpus.helpers import clean, document, make_pipeline, make_pipeline_of_two

STEPS_OF = (
    LengthStep(kind="length", min_words=4),
    CharactersStep(kind="characters"),
    ExactDuplicatesStep(kind="exact_duplicates"),
)
DOCUMENTS = [
    *(document(f"The whale number {i} rose from the sea.", f"{i}") for i in range(20)),
    document("Too short.", "short"),
    document("The whale number 3 rose from the sea.", "copy"),
    document("1 2 3 4 5 6 7 8", "numbers"),
]


def measured(tmp_path, measure, pipeline=make_pipeline):
    cleaning = Cleaning(steps=STEPS_OF, split=Split(eval_fraction=0.3), measure=measure)
    report = clean(tmp_path, DOCUMENTS, cleaning, pipeline)
    return report, {(row["step"], row["measure"]): row for row in report["measured"]}


def test_only_measuring_drops_nothing_and_counts_what_would_be(tmp_path):
    report, rows = measured(tmp_path, "only")
    assert sum(row["documents"] for row in report["splits"]) == len(DOCUMENTS)
    counts = {(each["step"], each["name"]): each["count"] for each in report["counts"]}
    assert counts == {
        ("length", "would drop: too_few_words"): 1,
        ("characters", "would drop: too_few_letters"): 1,
        ("exact_duplicates", "would drop: duplicate"): 1,
    }
    words = rows["length", "words"]
    assert dict(zip(words["values"], words["documents"])) == {2: 1, 8: 22}
    letters = rows["characters", "alphabetic_fraction"]
    assert letters["values"][0] == 0 and sum(letters["documents"]) == len(DOCUMENTS)


def test_those_that_reach_a_step_are_counted_on_any_number_of_workers(tmp_path):
    report, rows = measured(tmp_path / "one", "reached")
    assert sum(rows["characters", "mean_word_length"]["documents"]) == len(DOCUMENTS) - 1
    assert sum(row["documents"] for row in report["splits"]) == 20
    other, _ = measured(tmp_path / "two", "reached", make_pipeline_of_two)
    assert other["measured"] == report["measured"]
    assert measured(tmp_path / "none", "none")[0]["measured"] == []


FINEWEB = {
    "punctuated_line_fraction": 2 / 3,
    "short_line_fraction": 1,
    "duplicate_character_fraction": 17 / 41,
    "line_breaks_per_word": 2 / 9,
}
GOPHER = {"bullet_line_fraction": 0.5, "ellipsis_line_fraction": 0.5}


@pytest.mark.parametrize(
    ("config", "text", "expected"),
    [
        (FineWebStep(kind="fineweb"), "One line is here.\nOne line is here.\nAnother", FINEWEB),
        (GopherQualityStep(kind="gopher_quality"), "- One # two ...\nThree", GOPHER),
        (LanguageStep(kind="language", languages=("de",)), "It was the best of times.", {"probability": 0}),
    ],
)
def test_values_are_those_of_the_rules(config, text, expected):
    found = STEPS[config.kind](config).measures(document(text))
    assert {name: found[name] for name in expected} == pytest.approx(expected)
