"""Words by spaCy's tokenizers. Without spaCy, the rules are shown on tokens that are written out."""

import pickle
import sys

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import Drop, Keep
from firth.corpus.filters import language_rules
from firth.corpus.filters.language_rules import SpacyWords
from firth.recipes.corpus.filters import (
    FineWebStep,
    GopherQualityStep,
    GopherRepetitionStep,
    LanguageFineWeb,
    LanguageQuality,
    LanguageRepetition,
)
from tests.corpus.helpers import document

KINDS = [
    (GopherQualityStep, LanguageQuality),
    (GopherRepetitionStep, LanguageRepetition),
    (FineWebStep, LanguageFineWeb),
]
TEXT = "They don't know (yet) that Ishmael's ship, the Pequod, sank."
TOKENS = [
    *("They", "do", "n't", "know", "(", "yet", ")", "that", "Ishmael", "'s", "ship", ","),
    *("the", "Pequod", ",", "sank", "."),
]


def quality(**values):
    return STEPS["gopher_quality"](GopherQualityStep(kind="gopher_quality", words="spacy", **values))


@pytest.fixture
def written_tokens(monkeypatch):
    """Has the tokens of `TEXT` found without spaCy, and collects the languages that are asked for."""
    asked = []

    def splitter(language):
        asked.append(language)
        return lambda text: TOKENS if text == TEXT else text.split()

    monkeypatch.setitem(language_rules.SPLITTERS, "spacy", splitter)
    return asked


def test_punctuation_counts_neither_as_words_nor_in_their_length(written_tokens):
    counted = 12
    values = quality().measures(document(TEXT))
    assert values["words"] == counted
    assert values["mean_word_length"] == sum(map(len, TOKENS)) / counted - 5 / counted
    # The share is that of all tokens, as the symbols per word are.
    assert values["alphabetic_word_fraction"] == counted / len(TOKENS)
    loose = {"min_stop_words": 2, "min_alphabetic_word_fraction": 0.7}
    assert quality(min_words=counted, **loose).decide(document(TEXT)) == Keep(document(TEXT))
    assert quality(min_words=counted + 1, **loose).decide(document(TEXT)) == Drop("too_few_words")


def test_rules_of_a_language_have_its_tokenizer_and_others_that_of_english(written_tokens):
    for step, language in KINDS:
        written_tokens.clear()
        (kind,) = step.model_fields["kind"].annotation.__args__
        STEPS[kind](step(kind=kind, words="spacy", languages=(language(language="de"),)))
        assert written_tokens == ["en", "de"]


def test_line_breaks_and_ngrams_are_counted_in_tokens(written_tokens):
    step = STEPS["fineweb"](FineWebStep(kind="fineweb", words="spacy"))
    assert step.measures(document(f"{TEXT}"))["line_breaks_per_word"] == 0
    repetition = STEPS["gopher_repetition"](GopherRepetitionStep(kind="gopher_repetition", words="spacy"))
    assert repetition.measures(document(TEXT))["top_2_gram_character_fraction"] == 0


@pytest.mark.parametrize("step", [step for step, _ in KINDS])
def test_without_spacy_the_command_that_installs_it_is_named(step, monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    (kind,) = step.model_fields["kind"].annotation.__args__
    with pytest.raises(CorpusError, match=r"pip install 'firth\[spacy\]'"):
        STEPS[kind](step(kind=kind, words="spacy"))


def test_tokens_are_those_of_spacy():
    pytest.importorskip("spacy", reason="the extra spacy is not installed")
    words = SpacyWords("en")
    assert words(TEXT) == TOKENS
    assert pickle.loads(pickle.dumps(words))("a\n\n b") == ["a", "b"]
    # A language that spaCy does not have.
    assert SpacyWords("jv")("Aku (kowe).") == ["Aku", "(", "kowe", ")", "."]
    assert quality(min_words=12, min_alphabetic_word_fraction=0.7).decide(document(TEXT)) == Keep(
        document(TEXT)
    )
