from hypothesis import given, settings, strategies as st

from firth.corpus.filters.characters import count_letters


@settings(deadline=None, derandomize=True)
@given(st.text(st.characters()))
def test_letters_are_what_python_says(text):
    assert count_letters(text) == sum(map(str.isalpha, text))
