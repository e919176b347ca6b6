import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from firth.scores.labels import accuracy, f1, macro_f1, matthews


def test_literals():
    right, given_ = [1, 1, 1, 0, 0, 0, 0, 1], [1, 0, 1, 0, 1, 0, 0, 1]
    # 3 true positives, 1 false positive, 1 false negative, 3 true negatives.
    assert accuracy(right, given_) == 6 / 8
    assert f1(right, given_, positive=1) == 6 / 8
    assert f1([1, 0, 0], [1, 1, 0], positive=0) == pytest.approx(2 / 3)
    assert macro_f1(["a", "b", "c"], ["a", "b", "b"]) == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert matthews(right, given_) == pytest.approx((3 * 3 - 1 * 1) / 16)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_matthews_is_its_formula(pairs):
    """Matthews (1975), from the four counts; 0 where it divides by zero."""
    tp, tn = sum(r and p for r, p in pairs), sum(not r and not p for r, p in pairs)
    fp, fn = sum(p and not r for r, p in pairs), sum(r and not p for r, p in pairs)
    below = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    expected = (tp * tn - fp * fn) / below if below else 0.0
    assert matthews(*zip(*pairs)) == pytest.approx(expected)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30))
def test_f1_is_that_of_the_counts(pairs):
    tp = sum(r == p == "a" for r, p in pairs)
    named = sum((r == "a") + (p == "a") for r, p in pairs)
    assert f1(*zip(*pairs), positive="a") == pytest.approx(2 * tp / named if named else 0.0)


def test_labels_of_numpy():
    assert f1(np.array([1, 0, 1]), np.array([1, 1, 1]), positive=1) == 0.8
    assert f1(np.array(["a", "b"]), np.array(["a", "b"]), positive="a") == 1.0
    assert f1([1, 0, 1], [1, 1, 1], positive=np.int64(1)) == 0.8
    with pytest.raises(ValueError, match="another type"):
        f1(np.array([1, 0]), np.array([1, 1]), positive=True)


def test_of_one_class_or_none():
    assert matthews(["a", "a"], ["a", "b"]) == matthews(["a", "b"], ["b", "b"]) == 0.0
    assert f1(["a", "a"], ["a", "a"], positive="b") == 0.0
    assert macro_f1(["a", "a"], ["a", "a"]) == 1.0


@pytest.mark.parametrize("score", [accuracy, macro_f1, matthews])
def test_labels_that_cannot_be_compared_are_refused(score):
    with pytest.raises(ValueError, match=r"references .*int.*predictions .*str"):
        score([1, 0], ["1", "0"])
    with pytest.raises(ValueError, match=r"references .*int and str"):
        score([1, "0"], [1, 0])
    with pytest.raises(ValueError, match="not float"):
        score([1, 0], [1, math.nan])
    with pytest.raises(ValueError, match="reference 1 is -1"):
        score([1, -1], [1, 0])


def test_the_positive_class_is_of_the_labels_type():
    with pytest.raises(ValueError, match="another type"):
        f1(["1", "0"], ["1", "1"], positive=1)
