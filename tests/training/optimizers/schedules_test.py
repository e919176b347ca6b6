import typing

import numpy as np
import pytest

from firth.recipes import AdamWConfig, WarmupStableDecayScheduleConfig
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.training.optimizers import AnySchedule
from firth.training.optimizers.schedules import SCHEDULES, SHAPES, WarmupSchedule, build_schedule


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


@pytest.mark.parametrize(
    "shape, expected",
    [
        ("linear", [0.775, 0.55, 0.325, 0.1]),
        ("one_minus_sqrt", [0.55, 0.3636, 0.2206, 0.1]),
        ("exponential", [0.5623, 0.3162, 0.1778, 0.1]),
    ],
)
def test_a_stable_rate_decays_in_the_last_steps(shape, expected):
    decay = {"kind": "warmup_stable_decay", "decay_fraction": 0.4, "shape": shape}
    schedule = WarmupSchedule(1.0, warmup_steps=2, steps=10, decay=decay, final_fraction=0.1)
    rates = [float(schedule(step)) for step in range(11)]
    np.testing.assert_allclose(rates, [0.5, *[1.0] * 6, *expected], atol=1e-4)
    again = WarmupSchedule.from_config(schedule.get_config())
    assert float(again(8)) == float(schedule(8))


def test_a_stable_rate_does_not_depend_on_the_number_of_steps_before_its_decay():
    config = AdamWConfig(learning_rate=0.5, warmup_steps=3, schedule="warmup_stable_decay")
    short, long = build_schedule(config, 20), build_schedule(config, 40)
    assert [float(short(step)) for step in range(18)] == [float(long(step)) for step in range(18)]
    assert float(short(19)) < 0.5 == float(long(19))


def test_a_decay_longer_than_the_run_begins_after_the_warmup():
    decay = {"kind": "warmup_stable_decay", "decay_fraction": 1.0, "shape": "linear"}
    schedule = WarmupSchedule(1.0, warmup_steps=2, steps=4, decay=decay)
    assert [float(schedule(step)) for step in range(5)] == [0.5, 1.0, 1.0, 0.5, 0.0]


def test_tables_agree_with_recipe_types():
    assert tuple(SCHEDULES) == tuple(kind for config in configs_in(AnySchedule) for kind in kinds_of(config))
    shapes = WarmupStableDecayScheduleConfig.model_fields["shape"].annotation
    assert tuple(SHAPES) == typing.get_args(shapes)


def test_an_unknown_decay_is_refused():
    with pytest.raises(ValueError, match="unknown kind 'cosin'; did you mean cosine"):
        WarmupSchedule(1.0, 2, 6, decay="cosin")
