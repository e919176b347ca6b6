"""Batches of a call of the compiled steps on JAX."""

import importlib.util

import pytest

from tests.training.artifacts import tiny_recipe, write_artifact
from tests.training.jax_backend.make_steps import steps_of


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed here")
def test_a_call_holds_few_batches_however_long_a_block_may_be(tmp_path):
    write_artifact(tmp_path)
    (made,) = steps_of(tmp_path, tiny_recipe(steps=18, backend="jax", steps_per_execution=10_000))
    assert made["batches_of_a_call"] == [16, 16] and len(made["losses"]) == 18
