import itertools
import math

import pytest
from hypothesis import given, settings, strategies as st

from firth.corpus.quality.quality_model import Hashing, hash_ngrams, join_vectors


@settings(deadline=None, derandomize=True)
@given(st.lists(st.text("ab C.\n", max_size=30), max_size=5))
def test_vectors_count_ngrams_and_do_not_depend_on_other_texts(texts):
    hashing = Hashing((1, 2), 2**28, 20)
    vectors = hash_ngrams(texts, hashing)
    alone = join_vectors([hash_ngrams([each], hashing) for each in texts])
    for part, same in zip(vectors, alone, strict=True):
        assert part.tolist() == same.tolist()
    for each, start, end in zip(texts, vectors.splits[:-1], vectors.splits[1:], strict=True):
        words = each[:20].lower().split()
        counts: dict = {}
        for ngram in [*zip(words), *itertools.pairwise(words)]:
            counts[ngram] = counts.get(ngram, 0) + 1
        length = math.sqrt(sum(count**2 for count in counts.values()))
        expected = sorted(count / length for count in counts.values())
        assert sorted(vectors.values[start:end].tolist()) == pytest.approx(expected)
