"""Scores of texts in every script: 1 for the same text, 0 for one without a word in common."""

import csv

import pytest
from rouge_score.rouge_scorer import RougeScorer

from firth.scores import Collected, compute
from firth.scores.bleu import TOKENIZERS, bleu, bleu_of_places, bleu_signature, fitting_tokenizer
from firth.scores.rouge import VARIANTS, rouge_of, words_of
from tests.repeating import often
from tests.segmentation.languages import LANGUAGES
from tests.shared_data import shared_data

CHINESE = "zh"
BY_CHARACTERS = {"ja", "th", "lo", "km", "my", "bo"}
# Words between spaces, of a cased script and of one from right to left; characters, of both kinds.
FEW = ("en", "ar", "hi", CHINESE, "th")


def halves(language: str) -> tuple[str, str]:
    """Returns two texts of words and characters of which no word is in both."""
    words = list(dict.fromkeys(words_of(LANGUAGES[language])))
    first = words[: len(words) // 2]
    characters = set("".join(first))
    others = [word for word in words if characters.isdisjoint(word)]
    space = "" if fitting_tokenizer([LANGUAGES[language]]) != "13a" else " "
    return space.join(first), space.join(others or ["0"])


@pytest.mark.parametrize("language", often(LANGUAGES, FEW))
def test_the_same_text_scores_one_and_another_one_none(language):
    text, (one, other) = LANGUAGES[language], halves(language)
    for variant in VARIANTS:
        assert rouge_of(variant, text, text) == 1.0
        assert rouge_of(variant, one, other) == 0.0
    for tokenize in ("", "13a", "intl", "zh", "char"):
        assert bleu([text], [text], tokenize=tokenize) == pytest.approx(100.0)
    assert bleu([one], [other]) == 0.0
    assert bleu_of_places([text, one], [text, other])([0]) == pytest.approx(100.0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tokenizer_fits_the_references_and_is_named(language):
    expected = "zh" if language == CHINESE else "char" if language in BY_CHARACTERS else "13a"
    found = compute("bleu", [Collected("a", LANGUAGES[language], "x")])
    assert f"|tok:{expected}|" in found.signature
    assert f"|tok:{expected}|" in bleu_signature([[LANGUAGES[language], "a"], LANGUAGES[language]])
    assert expected in TOKENIZERS


def rouges_of_others(reference: str, prediction: str, stemmer: bool) -> list[float]:
    scores = RougeScorer([*VARIANTS.values()], use_stemmer=stemmer).score(reference, prediction)
    return [scores[name].fmeasure for name in VARIANTS.values()]


PAIRS = [
    ("The cat's “mat” isn’t 3.5 m_long – £5.\nIt ran.", "A cat’s mat is 3 m long.\nIt runs!"),
    (LANGUAGES["en"], LANGUAGES["en"].replace("right", "rights").upper()),
]


@pytest.mark.parametrize("stemmer", [False, True])
def test_english_has_the_values_of_rouge_score(stemmer):
    for pair in PAIRS:
        assert [rouge_of(each, *pair, stemmer=stemmer) for each in VARIANTS] == rouges_of_others(
            *pair, stemmer
        )


@pytest.mark.repeated
@pytest.mark.needs_data("cnn_dailymail", twin="test_english_has_the_values_of_rouge_score")
def test_real_summaries_have_the_values_of_rouge_score():
    """Those whose letters are ASCII's, nearly all of them."""
    with open(shared_data("cnn_dailymail") / "test.csv", encoding="utf-8", newline="") as file:
        rows = [(row["article"][:400], row["highlights"]) for row in csv.DictReader(file)]
    plain = [pair for pair in rows if all(each.isascii() or not each.isalnum() for each in "".join(pair))]
    assert len(plain) > 0.9 * len(rows)
    for pair in plain:
        assert [rouge_of(each, *pair) for each in [*VARIANTS][:3]] == rouges_of_others(*pair, False)[:3]
