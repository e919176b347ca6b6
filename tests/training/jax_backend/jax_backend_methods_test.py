"""Methods do on JAX what they do on TensorFlow: in a run's course, and on each kind of backbone."""

import importlib.util

import numpy as np
import pytest

from firth.models import load_model
from firth.models.bundle import weights_by_path
from firth.recipes.tuning.methods import Discriminative, Head, LastLayers
from firth.training import read_history
from tests.training.pretraining_methods_test import pre_trained, run, with_method
from tests.tuning.runs import adapting, weights_after
from tests.tuning.table import ADDING, may_train, small

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


# Each method on BERT, with dropout, and one of each sort on the other kinds of backbones.
CASES = {
    **{(kind, "bert"): small(kind, dropout=0.1) for kind in ADDING},
    **{(kind, "gpt"): small(kind) for kind in ("loha", "prefix_tuning", "prompt_tuning")},
    **{(kind, "t5"): small(kind) for kind in ("ia3", "houlsby", "prefix_tuning")},
    **{(kind, "xlnet"): small(kind) for kind in ("lora", "pfeiffer")},
    ("lora", "elmo"): small("lora"),
    ("head", "bert"): Head(),
    ("last_layers", "bert"): LastLayers(layers=1),
    ("discriminative", "bert"): Discriminative(decay=0.5),
}


@needs_jax
@pytest.mark.repeated
@pytest.mark.parametrize("kind, family", CASES)
def test_steps_have_the_losses_of_tensorflow_and_leave_frozen_weights_bit_for_bit(kind, family, tmp_path):
    """On the same rows, from the same weights."""
    recipe = adapting(family, tmp_path, CASES[kind, family])
    losses, weights = [], []
    for backend in ("tensorflow", "jax"):
        training = recipe.training.model_copy(update={"backend": backend})
        place = tmp_path / backend
        of_backend = recipe.model_copy(update={"training": training})
        weights.append(weights_after(of_backend, tmp_path, place / "run", place / "checkpoints"))
        losses.append([line["loss"] for line in read_history(str(place / "run"))])
    assert len(losses[1]) == recipe.training.steps
    assert losses[1] == pytest.approx(losses[0], rel=0, abs=1e-5)
    assert weights[1].keys() == weights[0].keys()
    base = weights_by_path(load_model(recipe.base.bundle))
    moved = [
        {path for path in base.keys() & each.keys() if not np.array_equal(each[path], base[path])}
        for each in weights
    ]
    assert moved[0] == moved[1]
    assert not recipe.method.adds or all(may_train(recipe.method, path) for path in moved[1])
    for path, each in weights[0].items():
        np.testing.assert_allclose(weights[1][path], each, rtol=0, atol=1e-5, err_msg=path)
