import numpy as np
from hypothesis import given, settings, strategies as st

from firth.corpus.quality.classifier import join_samples, sample_of


@settings(deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 99), max_size=30), st.integers(1, 5), st.integers(1, 9))
def test_a_sample_is_that_of_the_smallest_hashes_however_batched(hashes, batch, size):
    parts = [
        sample_of(np.array(hashes[i : i + batch], np.uint64), size) for i in range(0, len(hashes), batch)
    ]
    sample = join_samples(parts, size)
    assert sample.seen == len(hashes)
    assert sample.hashes.tolist() == sorted(set(hashes))[:size]
    assert sample.has(np.array(hashes, np.uint64)).tolist() == [
        each in set(sample.hashes.tolist()) for each in hashes
    ]
