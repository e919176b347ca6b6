"""The SavedModel of a run on JAX has the losses that JAX measured of the same weights."""

import importlib.util

import numpy as np
import pytest
import tensorflow as tf

from firth.serving.saved_model import export
from firth.tokenizers import load_tokenizer
from firth.training import read_history, train
from firth.training.held_out import first_rows
from tests.training.jax_backend.families import FAMILIES, ROWS, family_recipe, write_family_artifact

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed here")
STEPS = 8


@needs_jax
@pytest.mark.repeated
@pytest.mark.parametrize("preset", FAMILIES)
def test_held_out_losses_of_the_last_step_are_those_of_the_export(preset, tmp_path):
    settings = "training.backend=jax", f"training.steps={STEPS}", f"training.eval_every_steps={STEPS}"
    recipe = family_recipe(preset, *settings)
    write_family_artifact(tmp_path / "artifact", recipe)
    train_files, eval_files = (
        [str(tmp_path / "artifact" / f"Split-{each}" / "*")] for each in ("train", "eval")
    )
    tokenizer = str(tmp_path / "artifact" / "tokenizer")
    model = train(recipe, train_files, tokenizer, str(tmp_path / "run"), str(tmp_path / "saved"), eval_files)
    measured = read_history(str(tmp_path / "run"))[-1]
    pieces = load_tokenizer(tokenizer)
    counts = (np.arange(ROWS) < pieces.vocabulary_size()).astype("int64")
    export(model, pieces, recipe, counts, str(tmp_path / "exported"))
    rows = first_rows(eval_files, recipe.training.eval_rows)
    loaded = tf.saved_model.load(str(tmp_path / "exported"))
    sums = {
        name: float(tf.reduce_sum(value))
        for name, value in loaded.signatures["evaluate"](examples=tf.constant(rows)).items()
    }
    for name in recipe.objective.losses:
        weight = sums[f"{name}_weight_sum"]
        mean = sums[f"{name}_loss_sum"] / weight if weight else 0.0
        assert measured[f"held_out_{name}_loss"] == pytest.approx(mean, rel=1e-5, abs=1e-5), name
