import random

import numpy as np
from hypothesis import given, settings, strategies as st

from firth.corpus.text import shingles
from firth.corpus.text.shingles import shingle_hashes, word_hashes
from tests.corpus.duplicates_helpers import random_words

TEXTS = st.lists(st.lists(st.text("ab é漢", max_size=3).filter(str.strip).map(lambda s: s.replace(" ", ""))))


@settings(max_examples=40, deadline=None, derandomize=True)
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
