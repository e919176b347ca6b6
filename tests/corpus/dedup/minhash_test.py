import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.corpus.dedup.minhash import MinHash
from firth.corpus.text import shingles
from firth.corpus.text.shingles import shingle_hashes, word_hashes
from firth.corpus.text.words import comparable_words
from tests.corpus.duplicates_helpers import random_words, with_changes

TEXTS = st.lists(st.lists(st.text("ab é漢", max_size=3).filter(str.strip).map(lambda s: s.replace(" ", ""))))


@given(TEXTS, st.integers(1, 4), st.booleans())
def test_runs_of_words_have_one_hash_if_they_are_the_same(texts, size, short):
    hashes, splits = shingle_hashes(*word_hashes(texts), size, short)
    runs = []
    for words in texts:
        count = len(words) - size + 1
        each = [tuple(words[i : i + size]) for i in range(count)]
        runs.append([tuple(words)] if short and words and count < 1 else each)
    assert np.diff(splits).tolist() == [len(each) for each in runs]
    flat = [run for each in runs for run in each]
    assert len(set(zip(flat, hashes.tolist()))) == len(set(flat)) == len(set(hashes.tolist()))


def test_hashes_do_not_depend_on_neighbours_blocks_or_batches(monkeypatch):
    words = [random_words(random.Random(i), 50) for i in range(20)]
    together, splits = word_hashes(words)
    monkeypatch.setattr(shingles, "BLOCK_BYTES", 64)
    alone = [word_hashes([each])[0] for each in words]
    assert all((together[splits[i] : splits[i + 1]] == alone[i]).all() for i in range(20))
    assert not (together == word_hashes(words, seed=1)[0]).any()


@pytest.mark.parametrize("changes", [1, 2, 3, 4, 6])
def test_pairs_of_known_similarity_meet_as_often_as_the_formula_says(changes):
    pairs, runs = 1000, 100
    similarity = (runs - 5 * changes) / (runs + 5 * changes)
    expected = 1 - (1 - similarity**8) ** 14
    generator = random.Random(changes)
    texts = [random_words(generator, runs + 4) for _ in range(pairs)]
    _, first = MinHash().buckets([" ".join(text) for text in texts])
    _, second = MinHash().buckets([" ".join(with_changes(text, changes)) for text in texts])
    met = int((first == second).any(axis=1).sum())
    spread = (pairs * expected * (1 - expected)) ** 0.5
    assert abs(met - pairs * expected) < 4 * spread + 1


def test_a_word_is_compared_in_lowercase_without_punctuation_and_texts_without_words_are_left_out():
    places, buckets = MinHash().buckets(["It was the best; of times!", "…", "it was THE best of «times»", ""])
    assert places.tolist() == [0, 2]
    assert (buckets[0] == buckets[1]).all()
    assert buckets.shape == (2, 14)


def test_seeds_and_shapes_give_other_buckets():
    text = ["it was the best of times"]
    first, other = MinHash(seed=1).buckets(text)[1], MinHash(seed=2).buckets(text)[1]
    assert not (first == other).any()
    assert MinHash(buckets=3, hashes=2).buckets(text)[1].shape == (1, 3)
    assert MinHash().buckets([])[1].shape == (0, 14)


@given(st.text())
def test_comparable_words_have_no_mark_no_space_and_no_capital(text):
    words = comparable_words(text)
    assert comparable_words(" ".join(words)) == words
    assert all(word and word == word.lower() and len(word.split()) == 1 for word in words)


@given(st.text())
def test_comparable_words_are_those_of_the_text_s_words(text):
    assert [word for each in text.split() for word in comparable_words(each)] == comparable_words(text)
