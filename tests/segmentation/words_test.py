import pytest
from hypothesis import given, settings, strategies as st

from firth.segmentation.words import count_words, has_unspaced, split_words, word_spans
from tests.segmentation.languages import LANGUAGES

UNSPACED = {"zh", "ja", "th", "lo", "km", "my", "bo"}
WORDS = {
    "": [],
    "  Two words,\nno more ": ["Two", "words,", "no", "more"],
    "don't e-mail naïve “quotes”": ["don't", "e-mail", "naïve", "“quotes”"],
    "我們在 Berlin 住，很好。": ["我們", "在", "Berlin", "住，", "很好。"],
    "「是」": ["「是」"],
    "東京Tower3階": ["東京", "Tower3", "階"],
    "สวัสดีชาวโลก": ["สวัสดี", "ชาว", "โลก"],
    "བོད་ཡིག": ["བོད་", "ཡིག"],
    "ሰላም፡ለዓለም።": ["ሰላም፡", "ለዓለም።"],
    "𠀀𠀁你好😀吧": ["𠀀", "𠀁", "你好😀", "吧"],
    "ꆈꌠꁱꂷ。ꋍ": ["ꆈ", "ꌠ", "ꁱ", "ꂷ。", "ꋍ"],
    "ꦲꦤꦕꦫꦏ꧀꧈ꦢ": ["ꦲ", "ꦤ", "ꦕ", "ꦫ", "ꦏ꧀꧈", "ꦢ"],
    "한국어 문장": ["한국어", "문장"],
    "。。。": ["。。。"],
}


@pytest.mark.parametrize("text", WORDS)
def test_words(text):
    assert split_words(text) == WORDS[text]


@settings(deadline=None, derandomize=True)
@given(st.text(alphabet=st.sampled_from("aé .,\n\u3000我們いカーｶไทยก็ၐꩡ。「😀𠀀\ud800\u200b\u0301")))
def test_nothing_is_lost_but_spaces_and_places_are_those_of_the_words(text):
    words = split_words(text)
    assert "".join(words) == "".join(text.split())
    assert [text[start:end] for start, end in word_spans(text)] == words
    assert count_words(text) == len(words)
    assert "" not in words
    if not has_unspaced(text):
        assert words == text.split()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_as_many_words_as_others(language):
    """The same articles have 116 words in Tamil, which joins most of them, and 335 in Chinese."""
    text = LANGUAGES[language]
    assert 100 < count_words(text) < 400
    assert (count_words(text) == len(text.split())) == (language not in UNSPACED | {"am"})
