"""Thresholds and stop words by language."""

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import Drop, Keep
from firth.recipes import GopherQualityStep
from firth.recipes.corpus.filters import LanguageQuality
from tests.corpus.helpers import document

GERMAN = "Es war die beste und die schlimmste Zeit, und die Leute sagten es."
ENGLISH = "It was the best of times and the worst of times, and people said so to them."
FRENCH = "C'était le meilleur et le pire des temps, et les gens le disaient à tous."


def step(*languages, **keys):
    return GopherQualityStep(kind="gopher_quality", languages=languages, **{"min_words": 5, **keys})


def decide(config, text):
    decision = STEPS["gopher_quality"](config).decide(document(text))
    return decision.reason if isinstance(decision, Drop) else decision == Keep(document(text))


CHINESE = "這是最好的時代，也是最壞的時代。人們正踏上天堂之路，人們正走向地獄之門。"
THAI = "มันเป็นช่วงเวลาที่ดีที่สุดและเป็นช่วงเวลาที่เลวร้ายที่สุดของผู้คน"


def test_each_language_has_its_own_and_others_have_those_of_the_step(tmp_path):
    (tmp_path / "de").write_text("Und\ndie\n")
    config = step(
        LanguageQuality(language="de", stop_words_file=f"{tmp_path}/de"),
        LanguageQuality(language="fr", stop_words=("le", "et"), min_words=100),
    )
    assert decide(step(stop_words_file=None, stop_words=("the", "of")), GERMAN) == "too_few_stop_words"
    assert decide(config, GERMAN) is True
    assert decide(config, ENGLISH) is decide(step(), ENGLISH) is True
    assert decide(config, FRENCH) == "too_few_words"


def test_what_a_language_does_not_state_is_that_of_the_step_after_json_too():
    config = step(
        LanguageQuality(language="de", max_mean_word_length=14.0), stop_words=("und", "die"), min_words=7
    )
    again = GopherQualityStep.from_json(config.to_json())
    assert config == again
    (german,) = again.languages
    assert (german.min_words, german.max_mean_word_length, german.stop_words) == (7, 14.0, ("und", "die"))
    assert again.max_mean_word_length == 10.0


def test_words_that_a_language_states_take_the_place_of_a_file(tmp_path):
    config = step(LanguageQuality(language="de", stop_words=("und", "die")), stop_words_file="en.txt")
    assert GopherQualityStep.from_json(config.to_json()).languages[0].stop_words_file is None


def test_a_language_that_is_there_twice_and_a_file_without_words(tmp_path):
    with pytest.raises(ValueError, match="'de'"):
        step(LanguageQuality(language="de"), LanguageQuality(language="de"))
    (tmp_path / "de").write_text("\n")
    with pytest.raises(CorpusError, match=r"\bde\b"):
        STEPS["gopher_quality"](step(stop_words_file=f"{tmp_path}/de"))


@pytest.mark.parametrize(
    "language, text, stop_words",
    [("zh", CHINESE, ("的", "是")), ("zh", CHINESE, ("人們", "時代")), ("th", THAI, ("และ", "ที่"))],
)
def test_text_without_spaces_has_its_stop_words_and_as_many_words_as_characters(language, text, stop_words):
    """Between spaces it is a single long word."""
    keys = {"stop_words": stop_words, "min_mean_word_length": 1.0, "language": language}
    assert decide(
        step(LanguageQuality(**keys, words="spaces", min_words=1, max_mean_word_length=99.0)), text
    ) == ("too_few_stop_words")
    assert decide(step(LanguageQuality(**keys, words="characters", min_words=20)), text) is True
    assert decide(step(LanguageQuality(**keys, words="characters", min_words=60)), text) == "too_few_words"
    others = {**keys, "stop_words": ("xyz", "abc")}
    assert decide(step(LanguageQuality(**others, words="characters")), text) == "too_few_stop_words"
