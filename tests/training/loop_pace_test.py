import pytest

from firth.training.loop import TIMED_STEPS, Pace


def lengths(pace, seconds_per_step, end=1000, every=1000):
    """The blocks of a training whose steps all take as long."""
    made, step = [], 0
    while step < end:
        made.append(pace.next(step, [end, step + every - step % every]))
        pace.made(made[-1], made[-1] * seconds_per_step)
        step += made[-1]
    return made


def test_a_fixed_number_after_the_step_that_compiles():
    assert lengths(Pace(4), 0.1, end=12) == [1, 4, 4, 3]
    assert lengths(Pace(1), 0.1, end=3) == [1, 1, 1]
    assert lengths(Pace(4), 0.1, end=12, every=5) == [1, 4, 4, 1, 2]


def test_by_time_a_block_takes_about_a_second():
    assert lengths(Pace(None), 0.1, end=30) == [1, TIMED_STEPS, 10, 10, 4]
    assert lengths(Pace(None), 2.0, end=9) == [1, TIMED_STEPS, 1, 1, 1]


@pytest.mark.parametrize("steps", [None, 7])
def test_every_step_is_made_once(steps):
    for every in (1, 2, 13):
        assert sum(lengths(Pace(steps), 0.03, end=100, every=every)) == 100
