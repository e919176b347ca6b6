import math

import numpy as np
import pytest

from firth.scores.bootstrap import Resampling


def of_mean(values, how):
    numbers = np.asarray(values, float)
    return how.interval(len(numbers), lambda places: float(numbers[places].mean()))


def test_an_interval_is_near_the_normal_one_of_a_share():
    """Of 400 examples, 300 right: 0.75 and 1.96 standard errors of sqrt(p(1 - p) / n)."""
    found = of_mean([1.0] * 300 + [0.0] * 100, Resampling())
    error = math.sqrt(0.75 * 0.25 / 400)
    assert found.value == 0.75
    assert found.low == pytest.approx(0.75 - 1.96 * error, abs=0.3 * error)
    assert found.high == pytest.approx(0.75 + 1.96 * error, abs=0.3 * error)


def test_a_seed_gives_one_interval():
    values = list(np.linspace(0, 1, 20))
    one, again, other = (of_mean(values, Resampling(seed=seed, resamples=50)) for seed in (3, 3, 4))
    assert one == again != other


def test_a_lower_level_is_narrower():
    wide, narrow = (of_mean(range(50), Resampling(level)) for level in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


@pytest.mark.parametrize(
    ("values", "options", "problem"),
    [
        ([], {}, "no examples"),
        ([1.0], {"level": 1.0}, "level must be between"),
        ([1.0], {"resamples": 0}, "resamples must be at least 1"),
    ],
)
def test_what_gives_no_interval_is_refused(values, options, problem):
    with pytest.raises(ValueError, match=problem):
        of_mean(values, Resampling(**options))
