"""Distributions of what steps measure, and a cleaning that only measures."""

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import Drop
from firth.recipes.corpus.cleaning import CharactersStep, Cleaning, LengthStep, Split
from firth.recipes.corpus.duplicates import ExactDuplicatesStep
from firth.recipes.corpus.filters import (
    C4Step,
    FineWebStep,
    GopherQualityStep,
    GopherRepetitionStep,
    LanguageStep,
)
from tests.corpus.helpers import clean, document, make_pipeline, make_pipeline_of_two
from tests.corpus.quality.models import MADE, fasttext_step

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


@pytest.mark.repeated
def test_those_that_reach_a_step_are_counted_on_any_number_of_workers(tmp_path):
    report, rows = measured(tmp_path / "one", "reached")
    assert sum(rows["characters", "mean_word_length"]["documents"]) == len(DOCUMENTS) - 1
    assert sum(row["documents"] for row in report["splits"]) == 20
    other, _ = measured(tmp_path / "two", "reached", make_pipeline_of_two)
    assert other["measured"] == report["measured"]


def test_the_scores_of_a_model_are_measured_where_it_is_asked_for(tmp_path):
    documents = [document(text, name) for name, text in MADE["texts"].items()]
    scores = sorted(float(f"{labels['__label__hq']:.2g}") for labels in MADE["scores"]["fasttext"].values())
    cleaning = Cleaning(steps=(fasttext_step(threshold=0.5),), measure="only")
    rows = clean(tmp_path, documents, cleaning)["measured"]
    found = [
        (row["step"], row["measure"], value)
        for row in rows
        for value, n in zip(row["values"], row["documents"])
        for _ in range(n)
    ]
    assert found == [("fasttext", "score", score) for score in scores]


# The limit of gopher_repetition's value, and the name of the reason for which it drops.
REPETITION = GopherRepetitionStep(kind="gopher_repetition")


@pytest.mark.parametrize(
    "text",
    [
        "so it goes, and so it goes on",
        "One line.\nOne line.\nAnother.",
        "Some words.\n\nSome words.\n\nSome others are here, which are longer than those of the start.",
        "a b c d e f g h i j k l a b c d e f g h i j k l " * 2,
        "No word of this one occurs twice",
        "",
    ],
)
def test_repetition_drops_where_a_value_is_beyond_its_limit(text):
    config, step = REPETITION, STEPS["gopher_repetition"](REPETITION)
    limits = {
        **{f"top_{each.n}_gram": each.max_character_fraction for each in config.top_ngrams},
        **{f"duplicate_{each.n}_gram": each.max_character_fraction for each in config.duplicate_ngrams},
    }
    limits = {f"{name}_character_fraction": most for name, most in limits.items()} | {
        name.removeprefix("max_"): most for name, most in config if name.startswith("max_")
    }
    values = step.measures(document(text))
    assert values.keys() == limits.keys()
    beyond = any(values[name] > most for name, most in limits.items())
    assert beyond == isinstance(step.decide(document(text)), Drop)


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
        (
            C4Step(kind="c4"),
            "One line is here. And two.\nHome | News",
            {"sentences": 2, "cut_line_fraction": 0.5},
        ),
        (REPETITION, "to be or not to be", {"top_2_gram_character_fraction": 8 / 13}),
        (LanguageStep(kind="language", languages=("de",)), "It was the best of times.", {"probability": 0}),
    ],
)
def test_values_are_those_of_the_rules(config, text, expected):
    found = STEPS[config.kind](config).measures(document(text))
    assert {name: found[name] for name in expected} == pytest.approx(expected)
