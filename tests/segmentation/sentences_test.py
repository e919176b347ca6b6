import pytest
from hypothesis import given, settings, strategies as st

from firth.segmentation.sentences import split_sentences
from tests.segmentation.languages import LANGUAGES

SENTENCES = {
    "One. Two! Three? Four": ["One. ", "Two! ", "Three? ", "Four"],
    "e.g. this and 2.5 of that": ["e.g. this and 2.5 of that"],
    'He said "no." Then 3 left.': ['He said "no." ', "Then 3 left."],
    "a heading\n \n  and text": ["a heading\n \n  ", "and text"],
    "one line\nand the next": ["one line\nand the next"],
    "Ends. ": ["Ends. "],
    "": [""],
    "我們住在這裡。「好嗎？」很好!他来了.": ["我們住在這裡。", "「好嗎？」", "很好!", "他来了."],
    "Yahoo!ニュースを３．５回読む。」、と": ["Yahoo!ニュースを３．５回読む。」、と"],
    "यह है। वह है ।": ["यह है। ", "वह है ।"],
    "هل أنت هنا؟ نعم. أنا هنا": ["هل أنت هنا؟ ", "نعم. ", "أنا هنا"],
    "כן. לא! אולי": ["כן. ", "לא! ", "אולי"],
    "ერთი. ორი! სამი": ["ერთი. ", "ორი! ", "სამი"],
    "Τι κάνεις; Είμαι καλά; ναι": ["Τι κάνεις; ", "Είμαι καλά; ναι"],
    "ሰላም ነው። ደህና ነው፧ አዎ": ["ሰላም ነው። ", "ደህና ነው፧ ", "አዎ"],
    "ሰላም፡ነው፡፡ ደህና፡ነው": ["ሰላም፡ነው፡፡ ", "ደህና፡ነው"],
    "Մեկ։ Երկու։": ["Մեկ։ ", "Երկու։"],
    "¿Qué? ¡No! ¿Sí?": ["¿Qué? ", "¡No! ", "¿Sí?"],
    "Да. нет. Да": ["Да. нет. ", "Да"],
    "เขาเดินทางไปทำงานทุกวัน เพราะบ้านอยู่ใกล้ที่ทำงาน": ["เขาเดินทางไปทำงานทุกวัน ", "เพราะบ้านอยู่ใกล้ที่ทำงาน"],
    "เขาชื่อ สมชาย ใจดี และ อื่น ๆ": ["เขาชื่อ สมชาย ใจดี และ อื่น ๆ"],
    "ยินดี\nสวัสดี": ["ยินดี\n", "สวัสดี"],
}


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences(text):
    assert split_sentences(text) == SENTENCES[text]


@settings(deadline=None, derandomize=True)
@given(st.text(alphabet=st.sampled_from("aA1.!? \n\t\"')")))
def test_sentences_joined_are_the_text(text):
    sentences = split_sentences(text)
    assert "".join(sentences) == text
    assert all(before[-1].isspace() for before in sentences[:-1])


@settings(deadline=None, derandomize=True)
@given(st.text(alphabet=st.sampled_from('aA1.!? \n"é’我い。！「」、।ไα;．ა\u3000')))
def test_sentences_of_other_scripts_joined_are_the_text(text):
    sentences = split_sentences(text)
    assert "".join(sentences) == text
    assert len(sentences) == 1 or "" not in sentences


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_as_many_sentences_as_others(language):
    """The same five to eleven articles: strokes of Tibetan and spaces of Thai are between clauses too."""
    assert 6 <= len(split_sentences(LANGUAGES[language])) <= 35
    assert split_sentences(LANGUAGES[language] * 2)[0] == split_sentences(LANGUAGES[language])[0]
