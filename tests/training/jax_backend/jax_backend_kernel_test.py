"""The fused kernel of attention is refused on a machine without a GPU, with the devices that JAX has."""

import importlib.util
import json

import pytest

from firth.recipes.run.recipe import Recipe
from firth.training.jax_process import JaxTrainingError
from tests.training.artifacts import tiny_recipe, write_artifact
from tests.training.pretraining_resume_test import run

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed here")


@needs_jax
def test_a_training_that_asks_for_the_kernel_is_told_that_there_is_no_gpu(tmp_path):
    write_artifact(tmp_path / "artifact")
    training = {"backend": "jax", "precision": "mixed_bfloat16", "flash_attention": True}
    made = json.loads(tiny_recipe().to_json())
    made["model"]["attention"]["dropout"] = 0.0
    recipe = Recipe.from_json(json.dumps({**made, "training": made["training"] | training}))
    told = r"training\.flash_attention: true needs GPUs, but JAX has cpu:0"
    with pytest.raises(JaxTrainingError, match=told):
        run(recipe, tmp_path / "artifact", tmp_path / "run", tmp_path / "checkpoints")
