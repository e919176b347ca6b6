"""A tiny model of each family has the losses on JAX that it has on TensorFlow."""

import importlib.util

import pytest

from firth.training import read_history, train
from tests.training.jax_backend.families import FAMILIES, STEPS, family_recipe, write_family_artifact

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed here")
MEASURED = ("loss", "gradient_norm", "learning_rate", "tokens")


def curve(recipe, artifact, directory):
    """The lines of a run, and its held-out losses."""
    patterns = [[str(artifact / f"Split-{split}" / "*")] for split in ("train", "eval")]
    places = str(artifact / "tokenizer"), str(directory / "run"), str(directory / "checkpoints")
    train(recipe, patterns[0], *places, patterns[1])
    return read_history(str(directory / "run"))


@needs_jax
@pytest.mark.repeated
@pytest.mark.parametrize("preset", FAMILIES)
def test_the_losses_of_fifty_steps_are_those_of_tensorflow(preset, tmp_path):
    """Dropout included, which follows from the examples; both start from TensorFlow's weights."""
    artifact, curves = tmp_path / "artifact", []
    for backend in ("tensorflow", "jax"):
        recipe = family_recipe(preset, f"training.backend={backend}", "training.eval_every_steps=25")
        if not artifact.exists():
            write_family_artifact(artifact, recipe)
        curves.append(curve(recipe, artifact, tmp_path / backend))
    assert len(curves[0]) == len(curves[1]) == STEPS
    for line, other in zip(*curves, strict=True):
        for name in (*MEASURED, *(key for key in line if key.startswith("held_out"))):
            tolerance = 1e-3 if name == "gradient_norm" else 1e-4
            assert other[name] == pytest.approx(line[name], rel=tolerance, abs=tolerance), (
                line["step"],
                name,
            )
