import math

import numpy as np
import pytest

from firth.scores.bootstrap import (
    Resampling,
    mean_difference,
    mean_interval,
    score_difference,
    score_interval,
)
from firth.scores.labels import accuracy, matthews

RIGHT = ["a", "b"] * 30
GIVEN = ["a", "b", "b"] * 20
OTHER = ["a", "b", "b", "b", "a", "b"] * 10


def test_an_interval_is_near_the_normal_one_of_a_share():
    """Of 400 examples, 300 right: 0.75 and 1.96 standard errors of sqrt(p(1 - p) / n)."""
    found = mean_interval([1.0] * 300 + [0.0] * 100)
    error = math.sqrt(0.75 * 0.25 / 400)
    assert found.value == 0.75
    assert found.low == pytest.approx(0.75 - 1.96 * error, abs=0.3 * error)
    assert found.high == pytest.approx(0.75 + 1.96 * error, abs=0.3 * error)


def test_means_and_scores_of_the_set_are_resampled_alike():
    values = [float(right == given) for right, given in zip(RIGHT, GIVEN)]
    assert mean_interval(values, Resampling(resamples=50)) == pytest.approx(
        score_interval(accuracy, RIGHT, GIVEN, Resampling(resamples=50))
    )


def test_a_seed_gives_one_interval():
    values = list(np.linspace(0, 1, 20))
    one, again, other = (mean_interval(values, Resampling(seed=seed, resamples=50)) for seed in (3, 3, 4))
    assert one == again != other


def test_a_lower_level_is_narrower():
    wide, narrow = (mean_interval(list(range(50)), Resampling(level)) for level in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


def test_paired_differences_are_those_of_single_examples():
    """Systems that err on the same examples differ by little, however wide their own intervals are."""
    values = [0.0, 1.0] * 50
    found = mean_difference([value + 0.125 for value in values], values)
    assert found == pytest.approx((0.125, 0.125, 0.125))
    same = score_difference(matthews, RIGHT, GIVEN, GIVEN, Resampling(resamples=20))
    assert same == (0.0, 0.0, 0.0)
    apart = score_difference(accuracy, RIGHT, GIVEN, OTHER, Resampling(resamples=50))
    right = [[float(r == g) for r, g in zip(RIGHT, given)] for given in (GIVEN, OTHER)]
    assert apart == pytest.approx(mean_difference(*right, Resampling(resamples=50)))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (([], {}), "no examples"),
        (([1.0, math.nan], {}), "value of example 1 is nan"),
        (([1.0], {"level": 1.0}), "level must be between"),
        (([1.0], {"resamples": 0}), "resamples must be at least 1"),
    ],
)
def test_what_gives_no_interval_is_refused(arguments, problem):
    values, how = arguments
    with pytest.raises(ValueError, match=problem):
        mean_interval(values, Resampling(**how))


def test_systems_of_unequal_size_are_refused():
    with pytest.raises(ValueError, match=r"2 examples.* 1 "):
        mean_difference([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="predictions of one system"):
        score_difference(accuracy, ["a"], ["a"], [])
