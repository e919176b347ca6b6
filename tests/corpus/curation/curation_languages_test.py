"""The steps that compare documents do in every language what they do in English."""

import json

import pytest

from firth.recipes.corpus.benchmarks import TextBenchmark
from firth.recipes.corpus.duplicates import (
    DecontaminateStep,
    ExactDuplicatesStep,
    NearDuplicatesStep,
    SentenceDuplicatesStep,
    SubstringDuplicatesStep,
)
from tests.corpus.duplicates_helpers import reasons, run_steps
from tests.corpus.helpers import document
from tests.repeating import often
from tests.segmentation.languages import LANGUAGES

SENTENCES = SentenceDuplicatesStep(kind="sentence_duplicates")
SUBSTRINGS = SubstringDuplicatesStep(kind="substring_duplicates")
NEAR = NearDuplicatesStep(kind="near_duplicates", rounds=2)
# The longest article of each text has more words than an n-gram.
LONGEST = {language: max(text.split("\n"), key=len) for language, text in LANGUAGES.items()}
PREFACE = " ".join(f"The {name} preface of this copy is about {name} whales." for name in ("first", "last"))


def decontaminate(tmp_path, lines):
    (tmp_path / "exam.txt").write_text("".join(f"{line}\n" for line in lines))
    benchmark = TextBenchmark(kind="text", name="exam", paths=(f"{tmp_path}/exam.txt",))
    return DecontaminateStep(kind="decontaminate", benchmarks=(benchmark,))


def originals():
    return [document(text, language) for language, text in LANGUAGES.items()]


@pytest.mark.repeated
def test_texts_without_copies_are_kept_by_all(tmp_path):
    other = "Who was the captain of the ship that went down in the year 1851, and why did he sail?"
    steps = (SENTENCES, SUBSTRINGS, ExactDuplicatesStep(kind="exact_duplicates"), NEAR)
    kept, totals = run_steps(tmp_path, originals(), *steps, decontaminate(tmp_path, [other]))
    assert {each.uri: each.text for each in kept} == LANGUAGES, reasons(totals)


@pytest.mark.parametrize("step", often([SENTENCES, SUBSTRINGS], [SENTENCES]), ids=lambda step: step.kind)
def test_the_copy_in_another_text_is_cut(tmp_path, step):
    step = step.model_copy(update={"min_words": 0, "min_sentences": 0})
    copies = [
        document(f"{PREFACE.replace('whales', language)}\n\n{text}", f"{language} copy", source="web")
        for language, text in LANGUAGES.items()
    ]
    kept, _ = run_steps(tmp_path, [*originals(), *copies], step, sources=("docs", "web"))
    texts = {each.uri: each.text for each in kept}
    assert {language: texts[language] for language in LANGUAGES} == LANGUAGES
    left = {language: texts[f"{language} copy"] for language in LANGUAGES}
    assert left == {language: PREFACE.replace("whales", language) for language in LANGUAGES}


@pytest.mark.repeated
def test_near_copies_and_evaluation_data_are_found(tmp_path):
    copies = [document(f"{text}\n{language} 1", f"{language} copy") for language, text in LANGUAGES.items()]
    kept, totals = run_steps(tmp_path, [*originals(), *copies], NEAR)
    assert {each.uri for each in kept} == {each.uri for each in copies}
    assert reasons(totals) == {"duplicate": len(LANGUAGES)}
    exam = decontaminate(tmp_path, LONGEST.values())
    kept, totals = run_steps(tmp_path, originals(), exam)
    (found,) = json.loads((tmp_path / "decontaminate.json").read_text())["benchmarks"]
    assert (found["examples"], found["examples_too_short"]) == (len(LANGUAGES), 0)
    assert found["examples_found"] == len(LANGUAGES)
    assert kept == []
