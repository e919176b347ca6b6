"""Steps with thresholds by language, next to `gopher_quality`."""

import pickle

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import Drop, Keep
from firth.recipes import FineWebStep, GopherRepetitionStep
from firth.recipes.corpus.filters import LanguageFineWeb, LanguageRepetition, NgramLimit
from tests.corpus.helpers import document

GERMAN = "Es war die beste und die schlimmste Zeit, und die Leute sagten es sich wieder."
ENGLISH = "It was the best of times and the worst of times, and people said so to them."
HINDI = "यह सबसे अच्छा समय था और लोग एक दूसरे से यही बात बार बार कहते थे कि समय अच्छा है।"


def decide(config, text):
    step = pickle.loads(pickle.dumps(STEPS[config.kind](config)))
    decision = step.decide(document(text))
    if isinstance(decision, Drop):
        assert decision.reason in step.reasons
        return decision.reason
    return decision == Keep(document(text))


def test_fineweb_has_thresholds_and_marks_by_language():
    german = LanguageFineWeb(language="de", short_line_characters=100)
    hindi = LanguageFineWeb(language="hi", terminal_marks=("।",))
    keys = {"kind": "fineweb", "max_short_line_fraction": 0.9, "terminal_marks": (".",)}
    plain, config = FineWebStep(**keys), FineWebStep(**keys, languages=(german, hindi))
    assert [decide(plain, text) for text in (ENGLISH, GERMAN, HINDI)] == [
        True,
        True,
        "too_few_punctuated_lines",
    ]
    assert [decide(config, text) for text in (ENGLISH, GERMAN, HINDI)] == [True, "too_many_short_lines", True]
    assert config.languages[1].max_short_line_fraction == 0.9


def test_repetition_has_thresholds_by_language():
    strict = NgramLimit(n=2, max_character_fraction=0.01)
    german = LanguageRepetition(language="de", top_ngrams=(strict,))
    plain = GopherRepetitionStep(kind="gopher_repetition")
    config = GopherRepetitionStep(kind="gopher_repetition", languages=(german,))
    german_text, english_text = f"{GERMAN} die beste.", f"{ENGLISH} the best of."
    assert [decide(plain, text) for text in (english_text, german_text)] == [True, True]
    assert [decide(config, text) for text in (english_text, german_text)] == [True, "top_2_gram"]


def test_reasons_are_those_of_all_languages():
    other = LanguageRepetition(language="de", top_ngrams=(NgramLimit(n=7, max_character_fraction=0.2),))
    config = GopherRepetitionStep(kind="gopher_repetition", languages=(other,))
    assert {"top_2_gram", "top_7_gram"} <= STEPS["gopher_repetition"](config).reasons


@pytest.mark.parametrize(
    ("step", "rules"), [(FineWebStep, LanguageFineWeb), (GopherRepetitionStep, LanguageRepetition)]
)
def test_values_that_are_not_given_are_those_of_the_step_after_json_too(step, rules):
    kind = step.model_fields["kind"].annotation.__args__[0]
    number = {"fineweb": "max_line_breaks_per_word"}.get(kind, "max_duplicate_line_fraction")
    config = step(kind=kind, **{number: 0.4}, languages=(rules(language="fr"),))
    assert getattr(config.languages[0], number) == 0.4
    assert step.from_json(config.to_json()) == config
    with pytest.raises(ValueError, match="'fr'"):
        step(kind=kind, languages=(rules(language="fr"), rules(language="fr")))
    with pytest.raises(ValueError, match=r" fr\b"):
        rules(language="frr")
