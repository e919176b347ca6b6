"""Methods that change what is trained in the course of a run do on JAX what they do on TensorFlow."""

import importlib.util

import numpy as np
import pytest

from firth.training import read_history
from tests.training.pretraining_methods_test import pre_trained, run, with_method

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed here")
__all__ = ["pre_trained"]


@needs_jax
@pytest.mark.repeated
@pytest.mark.parametrize(
    "method",
    [
        {"kind": "gradual_unfreezing"},
        {"kind": "adalora", "initial_rank": 4, "target_rank": 2, "initial_steps": 1, "final_steps": 2},
    ],
    ids=lambda method: method["kind"],
)
def test_a_method_ends_with_the_weights_of_tensorflow(pre_trained, tmp_path, method):
    recipe = with_method(pre_trained, **method)
    weights, curves = [], []
    for backend in ("tensorflow", "jax"):
        training = recipe.training.model_copy(update={"backend": backend})
        place = tmp_path / backend
        weights.append(run(recipe.model_copy(update={"training": training}), place / "run", place / "saved"))
        curves.append([line["loss"] for line in read_history(str(place / "run"))])
    assert len(curves[0]) == recipe.training.steps
    assert curves[1] == pytest.approx(curves[0], rel=1e-4)
    assert weights[0].keys() == weights[1].keys()
    for path, each in weights[0].items():
        np.testing.assert_allclose(weights[1][path], each, rtol=0, atol=1e-4, err_msg=path)
