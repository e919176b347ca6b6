from hypothesis import given, strategies as st

from firth.corpus.filters.characters import count_letters


@given(st.text(st.characters()))
def test_letters_are_what_python_says(text):
    assert count_letters(text) == sum(map(str.isalpha, text))
