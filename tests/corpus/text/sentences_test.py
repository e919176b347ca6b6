import pytest
from hypothesis import given, settings, strategies as st

from firth.corpus.text.sentences import split_sentences

SENTENCES = {
    "One. Two! Three? Four": ["One. ", "Two! ", "Three? ", "Four"],
    "e.g. this and 2.5 of that": ["e.g. this and 2.5 of that"],
    'He said "no." Then 3 left.': ['He said "no." ', "Then 3 left."],
    "a heading\n \n  and text": ["a heading\n \n  ", "and text"],
    "one line\nand the next": ["one line\nand the next"],
    "Ends. ": ["Ends. "],
    "": [""],
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
