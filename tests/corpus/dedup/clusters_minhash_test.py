import random

import pytest

from firth.corpus.dedup.clusters import MinHash
from tests.corpus.duplicates_helpers import random_words, with_changes
from tests.repeating import often


@pytest.mark.parametrize("changes", often([1, 2, 3, 4, 6], [1, 4]))
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
