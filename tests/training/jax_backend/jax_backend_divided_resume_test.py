"""A run with divided weights resumes on one device, and one device's run with divided weights."""

import importlib.util
import shutil

import numpy as np
import pytest

from firth.training import read_history, train
from tests.training.jax_backend.families import family_recipe, write_family_artifact

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed here")
STEPS, SAVED = 16, 8
ONE = ("training.backend=jax",)
DIVIDED = (*ONE, "training.strategy=model_parallel", "training.mesh={data: 2, model: 2}")


def run(artifact, directory, *overrides):
    """The losses and the weights of a run, from the checkpoints that its folder has."""
    recipe = family_recipe(
        "bert_tiny", f"training.steps={STEPS}", f"training.checkpoint_every_steps={SAVED}", *overrides
    )
    if not artifact.exists():
        write_family_artifact(artifact, recipe)
    places = str(artifact / "tokenizer"), str(directory / "run"), str(directory / "checkpoints")
    model = train(recipe, [str(artifact / "Split-train" / "*")], *places)
    return [line["loss"] for line in read_history(str(directory / "run"))], model.get_weights()


@needs_jax
@pytest.mark.repeated
@pytest.mark.parametrize("first, then", [(DIVIDED, ONE), (DIVIDED, ()), (ONE, DIVIDED)])
def test_it_goes_on_to_the_same_result(first, then, tmp_path):
    losses, weights = run(tmp_path / "artifact", tmp_path / "first", *first)
    shutil.copytree(tmp_path / "first", tmp_path / "then")
    (last,) = (tmp_path / "then" / "checkpoints").glob(f"*/step-{STEPS:010d}")
    shutil.rmtree(last)
    again, others = run(tmp_path / "artifact", tmp_path / "then", *then)
    assert len(again) == STEPS
    assert again == pytest.approx(losses, rel=1e-5)
    for one, other in zip(weights, others, strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-4)
