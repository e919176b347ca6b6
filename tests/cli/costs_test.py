"""Memory of one device in a training on several."""

import pytest

from firth.cli.costs import accelerator_lines, device_bytes
from firth.models.builders import held_parameters
from firth.recipes import load_recipe
from firth.recipes.counting import memory_bytes, total_bytes
from firth.recipes.counting.accelerators import ACCELERATORS

ON_JAX = "training.backend=jax"
DIVIDED = (ON_JAX, "training.strategy=model_parallel", "training.mesh={data: 2, model: 2}")
REPLICATED = (ON_JAX, "training.strategy=data_parallel", "training.replicas=2")


@pytest.mark.parametrize("overrides, devices", [(DIVIDED, 4), (REPLICATED, 2), ((), 1)])
def test_a_device_holds_its_rows_and_its_parts_of_the_weights(overrides, devices):
    recipe = load_recipe("llama_tiny", overrides)
    whole, held = memory_bytes(recipe), device_bytes(recipe)
    assert held["weights"] == held["gradients"] == 4 * held_parameters(recipe)
    assert held["moments"] == 2 * held["weights"]
    assert (held["weights"] < 0.6 * whole["weights"]) == (overrides == DIVIDED)
    assert held["activations"] == whole["activations"] // min(devices, 2)
    assert held["checkpoint"] == whole["checkpoint"]
    assert held["total"] == total_bytes(held)
    text, of_step = accelerator_lines(recipe, ACCELERATORS["h100"])
    assert (f"on each of {devices} devices" in text) == ("on one device alone" in of_step) == (devices > 1)
