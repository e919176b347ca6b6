import pytest

from firth.recipes.counting.accelerators import step_seconds
from firth.training.cpu_rates import StoppedClockError, measure_cpu
from tests.training.artifacts import tiny_recipe


def test_the_rates_of_this_machine_say_what_a_step_takes():
    cpu = measure_cpu()
    assert cpu.name == "cpu" and cpu.memory > 2**28
    # A vector unit of the smallest kind makes more, and no CPU as much.
    assert all(1e8 < rate < 1e15 for rate in cpu.rates.values())
    assert 1e8 < cpu.bandwidth < 1e13
    assert step_seconds(tiny_recipe(), cpu)["total"] > 0


def test_nothing_is_measured_by_a_clock_that_does_not_move():
    with pytest.raises(StoppedClockError):
        measure_cpu(lambda: 4e9)
