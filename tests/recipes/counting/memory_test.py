import pytest

from firth.recipes import (
    Training,
)
from firth.recipes.counting import memory_bytes
from firth.recipes.training.optimizers import AdafactorConfig, AdagradConfig, LambConfig
from tests.recipes.counting.counted import BASE, recipe


def test_memory_of_weights_and_optimizer_is_exact():
    memory = memory_bytes(recipe(BASE))
    assert memory["weights"] == memory["gradients"] == 4 * 110_106_428
    assert memory["moments"] == 8 * 110_106_428
    assert memory["total"] == sum(value for name, value in memory.items() if name != "total")


@pytest.mark.parametrize("optimizer, kept", [(LambConfig(), 2), (AdafactorConfig(), 1), (AdagradConfig(), 1)])
def test_optimizers_keep_different_numbers_of_each_weight(optimizer, kept):
    memory = memory_bytes(recipe(BASE, training=Training(optimizer=optimizer)))
    assert memory["moments"] == kept * memory["weights"]


def test_activations_grow_with_the_batch_and_shrink_with_the_precision():
    one, two = (memory_bytes(recipe(BASE, training=Training(batch_size=size))) for size in (1, 2))
    assert two["activations"] == 2 * one["activations"]
    half = memory_bytes(recipe(BASE, training=Training(batch_size=1, precision="mixed_bfloat16")))
    logits = 2 * 4 * 20 * 30_522
    assert half["activations"] - logits == (one["activations"] - logits) // 2
