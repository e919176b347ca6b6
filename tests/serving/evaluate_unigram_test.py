import numpy as np
import pytest
from hypothesis import given, strategies as st

from firth.serving.evaluate import unigram_log_probabilities


def test_one_is_added_to_each_count():
    np.testing.assert_allclose(
        np.exp(unigram_log_probabilities(np.array([0, 1, 3, 0]), 3)), [1 / 7, 2 / 7, 4 / 7], rtol=1e-6
    )


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=50))
def test_probabilities_sum_to_one(counts):
    logs = unigram_log_probabilities(np.array(counts), len(counts))
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(np.exp(logs.astype(np.float64)).sum(), 1.0, rtol=1e-4)


@pytest.mark.parametrize("counts", [[1], [1, 2, 3], [1, -1], [[1, 2]]])
def test_counts_of_another_vocabulary_are_refused(counts):
    with pytest.raises(ValueError, match="unigram counts"):
        unigram_log_probabilities(np.array(counts), 2)
