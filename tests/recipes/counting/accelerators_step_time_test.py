import pytest

from firth.recipes import Training
from firth.recipes.counting import memory_bytes, training_flops_per_step
from firth.recipes.counting.accelerators import ACCELERATORS, Accelerator, step_seconds
from firth.recipes.counting.memory import written_bytes
from tests.recipes.counting.counted import BASE, recipe

# A device of one operation a second, or of one byte a second, next to which the other takes no time.
PRODUCTS = Accelerator("slow", {"float32": 1.0, "mixed_bfloat16": 2.0}, 1e30, 1.0)
TRAFFIC = Accelerator("narrow", {"float32": 1e40, "mixed_bfloat16": 1e40}, 1.0, 1.0)


def training(**settings):
    return recipe(BASE, training=Training(batch_size=8, **settings))


def test_products_take_their_operations_at_the_rate_of_the_precision():
    flops = training_flops_per_step(training())
    assert step_seconds(training(), PRODUCTS)["total"] == pytest.approx(flops)
    assert step_seconds(training(precision="mixed_bfloat16"), PRODUCTS)["products"] == pytest.approx(
        flops / 2
    )


def test_blocks_that_are_computed_again_take_a_third_more():
    again = step_seconds(training(rematerialisation="blocks"), PRODUCTS)["products"]
    assert again == pytest.approx(4 / 3 * training_flops_per_step(training()))


def test_traffic_is_that_of_activations_gradients_weights_and_moments():
    held = memory_bytes(training())
    moved = 5 * written_bytes(training()) + 3 * held["gradients"] + 2 * held["weights"] + 2 * held["moments"]
    assert step_seconds(training(), TRAFFIC)["memory"] == pytest.approx(moved)


def test_parts_of_a_batch_move_as_many_activations_and_more_gradients():
    held = memory_bytes(training())
    one, four = (
        step_seconds(training(gradient_accumulation_steps=parts), TRAFFIC)["memory"] for parts in (1, 4)
    )
    assert four - one == pytest.approx(3 * 3 * held["gradients"])


def test_a_newer_device_takes_less():
    found = [step_seconds(training(), ACCELERATORS[name])["total"] for name in ("l4", "a100", "h100", "h200")]
    assert found == sorted(found, reverse=True)
