import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import brier_score_loss

from firth.scores.calibration import (
    brier,
    brier_of,
    expected_calibration_error,
    reliability_table,
)


def of_two(*confidences: float) -> list[list[float]]:
    return [[each, 1 - each] for each in confidences]


def test_a_table_by_hand():
    """Four examples at 0.75, of which three are right, and one at 0.5, on the border, in the bin below."""
    table = reliability_table([0, 0, 0, 1, 0], of_two(0.75, 0.75, 0.75, 0.75, 0.5), bins=4)
    assert table[2] == (0.5, 0.75, 4, 0.75, 0.75)
    assert table[1] == (0.25, 0.5, 1, 0.5, 1.0)
    assert [each.examples for each in table] == [0, 1, 4, 0]


def test_the_error_by_hand():
    predictions = of_two(1.0, 1.0, 0.75, 0.75)
    assert expected_calibration_error([0, 1, 0, 0], predictions, bins=4) == pytest.approx(
        0.5 * 0.5 + 0.5 * 0.25
    )
    assert expected_calibration_error([0, 1, 0, 0], predictions, bins=1) == pytest.approx(0.875 - 0.75)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=20))
def test_brier_is_twice_scikit_learns_of_two_classes(pairs):
    right, given_ = zip(*pairs)
    expected = 2 * brier_score_loss(right, given_, pos_label=True) if len(set(right)) == 2 else None
    found = brier([int(each) for each in right], [[1 - p, p] for p in given_])
    assert found == pytest.approx(np.mean([2 * (r - p) ** 2 for r, p in pairs]))
    assert expected is None or found == pytest.approx(expected)


def test_brier_of_three_classes():
    assert brier_of(0, [0.5, 0.25, 0.25]) == pytest.approx(0.25 + 0.0625 + 0.0625)
    assert brier_of(0, [0.0, 1.0, 0.0]) == 2.0


@pytest.mark.parametrize("score", [brier, expected_calibration_error, reliability_table])
@pytest.mark.parametrize(
    ("references", "predictions", "problem"),
    [
        ([0, 1], [[0.5, 0.5], [0.5, 0.6]], "example 1 has no probabilities that add up to 1"),
        ([0], [[1.5, -0.5]], "example 0 has no probabilities"),
        ([0], [[float("nan"), 1.0]], "example 0, class 0 is nan"),
        ([-1], [[0.5, 0.5]], "reference 0 is -1, a hidden test label"),
        ([2], [[0.5, 0.5]], "not the place of one of 2 classes"),
        ([True], [[0.5, 0.5]], "not the place"),
        ([0, 0], [[0.5, 0.5], [1.0]], "different numbers of classes"),
    ],
)
def test_what_are_no_probabilities_is_refused(score, references, predictions, problem):
    with pytest.raises(ValueError, match=problem):
        score(references, predictions)


def test_bins_are_checked():
    with pytest.raises(ValueError, match=r"bins .*1"):
        reliability_table([0], [[1.0]], bins=0)
