"""Moments in bfloat16 on JAX: rounded by TensorFlow's bits, divided and saved as weights are."""

import importlib.util
import shutil

import numpy as np
import pytest

from firth.training import read_history, train
from tests.training.jax_backend.families import family_recipe, write_family_artifact
from tests.training.jax_backend.make_steps import steps_of

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed here")
pytestmark = [needs_jax, pytest.mark.repeated]
STEPS = 24
JAX = "training.backend=jax"
DIVIDED = (JAX, "training.strategy=model_parallel", "training.mesh={data: 2, model: 2}")
# By kind of optimizer, a preset and the setting of bfloat16.
KINDS = {
    "adamw": ("bert_tiny", "training.optimizer.moments=bfloat16"),
    "lamb": ("bert_tiny", "training.optimizer={kind: lamb, learning_rate: 1e-3, moments: bfloat16}"),
    "muon": ("gpt2_tiny", "training.optimizer={kind: muon, learning_rate: 1e-3, moments: bfloat16}"),
    "adagrad": ("elmo_tiny", "training.optimizer.accumulator=bfloat16"),
}


def run(kind, artifact, directory, *overrides):
    """The losses and the weights of a run, from the checkpoints that its folder has."""
    preset, setting = KINDS[kind]
    settings = f"training.steps={STEPS}", "training.checkpoint_every_steps=12", setting, *overrides
    recipe = family_recipe(preset, *settings)
    if not artifact.exists():
        write_family_artifact(artifact, recipe)
    places = str(artifact / "tokenizer"), str(directory / "run"), str(directory / "checkpoints")
    model = train(recipe, [str(artifact / "Split-train" / "*")], *places)
    return [line["loss"] for line in read_history(str(directory / "run"))], model.get_weights()


@pytest.mark.parametrize("kind", KINDS)
def test_losses_are_those_of_tensorflow(kind, tmp_path):
    losses, _ = run(kind, tmp_path / "artifact", tmp_path / "tensorflow")
    others, _ = run(kind, tmp_path / "artifact", tmp_path / "jax", JAX)
    assert others == pytest.approx(losses, rel=1e-4)


@pytest.mark.parametrize(
    "first, then, tolerance", [((JAX,), (JAX,), 0), ((JAX,), (), 1e-4), ((), (JAX,), 1e-4)]
)
def test_a_run_goes_on_to_the_same_result(first, then, tolerance, tmp_path):
    losses, weights = run("adamw", tmp_path / "artifact", tmp_path / "first", *first)
    shutil.copytree(tmp_path / "first", tmp_path / "then")
    (last,) = (tmp_path / "then" / "checkpoints").glob(f"*/step-{STEPS:010d}")
    shutil.rmtree(last)
    again, others = run("adamw", tmp_path / "artifact", tmp_path / "then", *then)
    assert len(again) == STEPS
    assert again == pytest.approx(losses, rel=tolerance, abs=0)
    for one, other in zip(weights, others, strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=10 * tolerance)


def test_divided_moments_are_in_parts_and_give_the_losses_of_one_device(tmp_path):
    preset, setting = KINDS["muon"]
    one, divided = (
        family_recipe(preset, f"training.steps={STEPS}", setting, *way) for way in ((JAX,), DIVIDED)
    )
    write_family_artifact(tmp_path, one)
    whole, parts = steps_of(tmp_path, one, divided)
    assert parts["losses"] == pytest.approx(whole["losses"], rel=1e-4)
    halves = {path for path, shape in parts["shapes"].items() if parts["parts"][path][0] != shape}
    momentums = {path: f"{path.replace('/', '_')}_momentum" for path in halves}
    found = {path: each for path, name in momentums.items() for each in parts["parts"] if each.endswith(name)}
    assert found.keys() == halves
    assert all(parts["parts"][each] == parts["parts"][path] for path, each in found.items())
