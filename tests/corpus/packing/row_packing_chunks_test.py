import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from firth.corpus.packing.row_packing import chunk_lengths


def flags(text: str) -> np.ndarray:
    return np.array([character == "1" for character in text], bool)


CHUNKS = [
    # words, sentences, most tokens, lengths, words cut
    ("1111", "1000", 4, [4], 0),
    ("", "", 4, [], 0),
    ("111111", "100100", 4, [3, 3], 0),
    ("110111", "100000", 2, [1, 2, 2, 1], 0),
    ("101010", "100000", 3, [2, 2, 2], 0),
    ("100000", "100000", 4, [4, 2], 1),
    ("1100001", "1000000", 4, [1, 4, 2], 1),
]


@pytest.mark.parametrize(("words", "sentences", "most", "lengths", "cut"), CHUNKS)
def test_chunks(words, sentences, most, lengths, cut):
    assert chunk_lengths(flags(words), flags(sentences), most) == (lengths, cut)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60), st.integers(1, 9))
def test_chunks_lose_nothing_and_begin_where_words_do(starts, most):
    words = np.array([word or sentence for word, sentence in starts], bool)
    words[:1] = True
    sentences = np.array([sentence for _, sentence in starts], bool)
    lengths, cut = chunk_lengths(words, sentences, most)
    assert sum(lengths) == len(words)
    assert all(0 < length <= most for length in lengths)
    inside_words = sum(not words[sum(lengths[:i])] for i in range(1, len(lengths)))
    assert inside_words == cut


@pytest.mark.parametrize(("target", "lengths"), [
    (1, [2, 2, 3, 2]),
    (2, [2, 2, 3, 2]), (3, [4, 3, 2]), (4, [4, 5]), (7, [7, 2]), (8, [7, 2]), (None, [7, 2]),
])  # fmt: skip
def test_a_chunk_with_a_target_ends_with_the_sentence_that_reaches_it(target, lengths):
    """Sentences of 2, 2, 3 and 2 tokens, of which a chunk takes eight at the most."""
    sentences = flags("101010010")
    assert chunk_lengths(flags("1" * 9), sentences, 8, lambda number: target) == (lengths, 0)
