"""Stop words in any letter case, and more of them asked for than there are."""

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import Keep
from firth.recipes import GopherQualityStep
from firth.recipes.corpus.filters import LanguageQuality
from tests.corpus.helpers import document

TEXT = document("it was the best of times and the worst of times")


def step(*languages, **keys):
    return GopherQualityStep(kind="gopher_quality", languages=languages, **{"min_words": 5, **keys})


def test_the_case_of_a_word_in_the_recipe_does_not_count():
    assert STEPS["gopher_quality"](step(stop_words=("The", "AND"))).decide(TEXT) == Keep(TEXT)


@pytest.mark.parametrize(
    ("languages", "keys", "message"),
    [
        (
            (),
            {"stop_words": ("the", "The")},
            "^GopherQualityStep: min_stop_words: 2 of 1 stop_words cannot occur",
        ),
        (
            (LanguageQuality(language="en"), LanguageQuality(language="de", stop_words=("und",))),
            {},
            r"languages\.1: min_stop_words: 2 of 1 stop_words",
        ),
        ((LanguageQuality(language="de", min_stop_words=9),), {}, r"languages\.0: min_stop_words: 9 of 8"),
    ],
)
def test_more_stop_words_than_there_are_would_drop_every_document(languages, keys, message):
    with pytest.raises(ValueError, match=message):
        step(*languages, **keys)


def test_a_language_may_ask_for_as_many_as_it_has_and_a_file_for_any_number():
    step(LanguageQuality(language="de", stop_words=("und",)), min_stop_words=1)
    step(LanguageQuality(language="de", stop_words_file="de.txt", min_stop_words=30))
    step(LanguageQuality(language="de", stop_words=("und",), min_stop_words=0))
