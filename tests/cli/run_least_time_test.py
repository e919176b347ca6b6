"""A long training's least time is reported before it starts; a short one's is not."""

import pytest

from firth.cli import run as least_time
from firth.recipes import load_recipe
from firth.recipes.counting import training_flops


@pytest.mark.parametrize(
    ("hours", "said"), [(0.9, None), (3, "about 3 h 0 min or more"), (40, "about 40 h 0 min or more")]
)
def test_a_long_training_is_told_before_it_starts(monkeypatch, hours, said):
    recipe = load_recipe("bert_mini")
    monkeypatch.setattr(least_time, "matrix_speed", lambda: training_flops(recipe) / (3600 * hours))
    line = least_time.least_time_line(recipe)
    assert line is None if said is None else said in line


def test_the_speed_is_that_of_a_machine():
    assert 1e8 < least_time.matrix_speed() < 1e15


def test_by_a_clock_that_does_not_move_nothing_is_told(monkeypatch):
    assert least_time.matrix_speed(lambda: 4e9) is None
    monkeypatch.setattr(least_time, "matrix_speed", lambda: None)
    assert least_time.least_time_line(load_recipe("bert_mini")) is None
