"""A tiny model of each family has the losses on JAX that it has on TensorFlow."""

import importlib.util

import pytest

from firth.training import read_history, train
from tests.training.jax_backend.families import FAMILIES, family_recipe, write_family_artifact

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed here")
MEASURED = ("loss", "gradient_norm", "learning_rate", "tokens")


def curve(recipe, artifact, directory):
    """The lines of a run, and its held-out losses."""
    patterns = [[str(artifact / f"Split-{split}" / "*")] for split in ("train", "eval")]
    places = str(artifact / "tokenizer"), str(directory / "run"), str(directory / "checkpoints")
    train(recipe, patterns[0], *places, patterns[1])
    return read_history(str(directory / "run"))


def both_curves(preset, directory, *overrides):
    """The lines of a run on TensorFlow and of one on JAX, on the same rows."""
    artifact, curves = directory / "artifact", []
    for backend in ("tensorflow", "jax"):
        recipe = family_recipe(preset, f"training.backend={backend}", *overrides)
        if not artifact.exists():
            write_family_artifact(artifact, recipe)
        curves.append(curve(recipe, artifact, directory / backend))
    assert len(curves[0]) == len(curves[1]) == recipe.training.steps
    return zip(*curves, strict=True)


@needs_jax
@pytest.mark.repeated
@pytest.mark.parametrize("preset", FAMILIES)
def test_the_losses_of_fifty_steps_are_those_of_tensorflow(preset, tmp_path):
    """Dropout included, which follows from the examples; both start from TensorFlow's weights."""
    for line, other in both_curves(preset, tmp_path, "training.eval_every_steps=25"):
        for name in (*MEASURED, *(key for key in line if key.startswith("held_out"))):
            tolerance = 1e-3 if name == "gradient_norm" else 1e-4
            assert other[name] == pytest.approx(line[name], rel=tolerance, abs=tolerance), (
                line["step"],
                name,
            )
        assert other.get("samples") == line.get("samples"), line["step"]


@needs_jax
@pytest.mark.repeated
@pytest.mark.parametrize("preset", ["bert_tiny", "gpt2_tiny", "t5_tiny"])
def test_losses_in_bfloat16_are_those_of_tensorflow_but_for_its_rounding(preset, tmp_path):
    """XLA may keep more digits than bfloat16 has between operations that it joins."""
    settings = "training.precision=mixed_bfloat16", "training.steps=24", "training.eval_every_steps=24"
    for line, other in both_curves(preset, tmp_path, *settings):
        for name in ("loss", *(key for key in line if key.startswith("held_out"))):
            assert other[name] == pytest.approx(line[name], rel=1e-2), (line["step"], name)
