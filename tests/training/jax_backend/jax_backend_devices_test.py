"""Divided weights, parts of a batch and blocks computed again give the losses of one device."""

import functools
import importlib.util
import tempfile

import pytest

from tests.training.jax_backend.families import FAMILIES, family_recipe, write_family_artifact
from tests.training.jax_backend.make_steps import steps_of

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed here")
pytestmark = [needs_jax, pytest.mark.repeated]
families = pytest.mark.parametrize("preset", FAMILIES)
STEPS = 30
# Its generator has one head otherwise.
SIZES = {"electra_tiny": ("model.attention.heads=4",)}
WAYS = {
    "one": (),
    "divided": ("training.strategy=model_parallel", "training.mesh={data: 2, model: 2}"),
    "parts": ("training.gradient_accumulation_steps=2",),
    "again": ("training.rematerialisation=blocks",),
}


@functools.cache
def measured(preset):
    """Returns the measures of the steps in each way, all from the same weights."""
    settings = "training.backend=jax", f"training.steps={STEPS}", *SIZES.get(preset, ())
    recipes = [family_recipe(preset, *settings, *overrides) for overrides in WAYS.values()]
    with tempfile.TemporaryDirectory() as artifact:
        write_family_artifact(artifact, recipes[0])
        return dict(zip(WAYS, steps_of(artifact, *recipes), strict=True))


@families
def test_divided_weights_give_the_losses_of_one_device(preset):
    of_preset = measured(preset)
    assert len(of_preset["one"]["losses"]) == STEPS
    assert of_preset["one"]["losses"][-1] < of_preset["one"]["losses"][0]
    assert of_preset["divided"]["losses"] == pytest.approx(of_preset["one"]["losses"], rel=1e-5)


@families
def test_a_device_holds_half_of_what_is_divided_and_of_its_moments(preset):
    of_preset = measured(preset)["divided"]
    shapes, parts = of_preset["shapes"], of_preset["parts"]
    divided = [path for path, shape in shapes.items() if parts[path][0] != shape]
    assert any(path.endswith("table") for path in divided)
    for path in divided:
        halves = [before // of for before, of in zip(shapes[path], parts[path][0], strict=True)]
        assert sorted(halves, reverse=True)[:2] in ([2, 1], [2])
        assert parts[path] == 4 * [parts[path][0]]
        moments = [each for each in parts if each.endswith(f"{path.replace('/', '_')}_velocity")]
        assert all(parts[each] == parts[path] for each in moments)


@families
@pytest.mark.parametrize("way", ["parts", "again"])
def test_parts_of_a_batch_and_blocks_computed_again_give_the_losses_of_the_batch(way, preset):
    of_preset = measured(preset)
    assert of_preset[way]["losses"] == pytest.approx(of_preset["one"]["losses"], rel=1e-6)
