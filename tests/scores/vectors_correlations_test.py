import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from firth.scores.vectors import pearson, spearman

NUMBERS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=20)


def test_literals():
    right, given_ = [0.0, 1.0, 2.0, 5.0], [0.0, 2.0, 1.0, 4.0]
    # Deviations (-2, -1, 0, 3) and (-1.75, 0.25, -0.75, 2.25); ranks differ by one twice.
    assert pearson(right, given_) == pytest.approx(10 / math.sqrt(14 * 8.75))
    assert spearman(right, given_) == pytest.approx(1 - 6 * 2 / (4 * 15))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(NUMBERS)
def test_pearson_is_its_formula(pairs):
    right, predicted = (np.array(column, float) for column in zip(*pairs))
    right, predicted = right - right.mean(), predicted - predicted.mean()
    below = math.sqrt((right @ right) * (predicted @ predicted))
    expected = right @ predicted / below if below > 1e-9 else 0.0
    assert pearson(*zip(*pairs)) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(NUMBERS)
def test_spearman_is_pearson_of_ranks_whatever_grows_alike(pairs):
    right, predicted = zip(*pairs)
    ranks = [[sum((o < v) + (o == v) / 2 for o in column) for v in column] for column in (right, predicted)]
    assert spearman(right, predicted) == pytest.approx(pearson(*ranks), abs=1e-9)
    assert spearman(right, [v**3 for v in predicted]) == pytest.approx(spearman(right, predicted))


@pytest.mark.parametrize("score", [pearson, spearman])
def test_constants_and_bad_numbers(score):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert score([1.0, 2.0], [3.0, 3.0]) == score([2.0, 2.0], [1.0, 3.0]) == score([1.0], [1.0]) == 0.0
    with pytest.raises(ValueError, match="prediction 1 is nan"):
        score([1.0, 2.0], [1.0, math.nan])
    with pytest.raises(ValueError, match="reference 0 is inf"):
        score([math.inf, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"reference 1 .*5\.2.* 0\.0 and 5\.0"):
        score([1.0, 5.2], [1.0, 6.0], bounds=(0.0, 5.0))
    with pytest.raises(ValueError, match="hidden test labels"):
        score([-1.0, -1.0], [1.0, 6.0])
    assert score([1.0, 5.0], [-3.0, 6.0], bounds=(0.0, 5.0)) == pytest.approx(1.0)
