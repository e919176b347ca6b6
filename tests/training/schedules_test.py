import numpy as np
import pytest

from firth.training.schedules import WarmupSchedule


def test_schedule_climbs_falls_and_ends():
    schedule = WarmupSchedule(2.0, warmup_steps=4, steps=12)
    rates = [float(schedule(step)) for step in range(13)]
    np.testing.assert_allclose(rates[:5], [0.5, 1.0, 1.5, 2.0, 2.0], rtol=1e-6)
    np.testing.assert_allclose(np.diff(rates[4:]), -0.25, rtol=1e-5)
    assert rates[12] == 0
    assert float(WarmupSchedule(2.0, warmup_steps=0, steps=4)(0)) == 2.0
    assert float(WarmupSchedule(2.0, warmup_steps=4, steps=4)(3)) == 2.0


@pytest.mark.parametrize(
    "decay, expected",
    [
        ("cosine", [0.5, 1.0, 1.0, 0.8681, 0.55, 0.2319, 0.1]),
        ("constant", [0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        ("linear", [0.5, 1.0, 1.0, 0.775, 0.55, 0.325, 0.1]),
        ("inverse_square_root", [1.0, 1.0, 0.8165, 0.7071, 0.6325, 0.5774, 0.5345]),
    ],
)
def test_what_comes_after_the_warmup(decay, expected):
    schedule = WarmupSchedule(1.0, warmup_steps=2, steps=6, decay=decay, final_fraction=0.1)
    np.testing.assert_allclose([float(schedule(step)) for step in range(7)], expected, atol=1e-4)
    again = WarmupSchedule.from_config(schedule.get_config())
    assert float(again(4)) == float(schedule(4))


def test_an_unknown_decay_is_refused():
    with pytest.raises(ValueError, match="Received: 'stepwise'"):
        WarmupSchedule(1.0, 2, 6, decay="stepwise")
