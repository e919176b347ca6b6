"""An export whose weights are stored in another type: its size, its answers and what it says of its loss."""

import functools
import os
import pathlib
import tempfile

import numpy as np
import pytest
import tensorflow as tf

from firth.serving import read_description, validate_serving
from firth.serving.bundle import export_bundle, export_stored
from firth.serving.descriptions.listing import weights_line
from firth.serving.saved_model import export
from firth.serving.weights import HeldWeights, held_weights
from tests.exported_model import RECIPE, UNIGRAM_COUNTS, exported_model, make_served
from tests.serving.weights_test import bundle_of

# How far answers are from those of the weights as they are, as a share of their size.
TOLERANCES = {"bfloat16": 0.02, "int8": 0.03}
TEXTS = ["the cat [MASK] on the mat .", "a word"]


def wide():
    """A recipe whose weights are mostly kernels."""
    model = RECIPE.model.model_copy(update={"width": 64})
    return RECIPE.model_copy(update={"model": model})


def stored_as(recipe, kind):
    return recipe.model_copy(update={"export": recipe.export.model_copy(update={"weights": kind})})


@functools.cache
def exported(kind) -> str:
    folder = tempfile.TemporaryDirectory()
    exported.folders.append(folder)
    served = make_served(wide())
    directory = os.path.join(folder.name, "model")
    recipe = stored_as(served.recipe, kind)
    export(served.model, served.tokenizer, recipe, UNIGRAM_COUNTS, directory, exported_model().rows)
    return directory


exported.folders = []


def variable_bytes(directory) -> int:
    return sum(path.stat().st_size for path in pathlib.Path(directory, "variables").glob("*.data-*"))


def test_float32_stores_the_variables_of_the_model_themselves():
    model = make_served(RECIPE).model
    weights = held_weights(model, "float32")
    assert isinstance(weights, HeldWeights)
    assert all(one is other.value for one, other in zip(weights.variables, model.variables))
    function = object()
    assert weights.bind(function) is function
    described = read_description(exported_model().directory)["weights"]
    assert described["type"] == "float32" and described["bytes"] == described["float32_bytes"]
    assert "held_out" not in described


@pytest.mark.parametrize("kind", [pytest.param("bfloat16", marks=pytest.mark.repeated), "int8"])
def test_a_reduced_export_is_smaller_answers_alike_and_is_blessed(kind):
    directory = exported(kind)
    described = read_description(directory)["weights"]
    limit = {"bfloat16": 0.6, "int8": 0.4}[kind]
    assert described["type"] == kind and described["bytes"] < limit * described["float32_bytes"]
    # The file also holds a table of its entries.
    assert described["bytes"] <= variable_bytes(directory) < described["bytes"] + 20_000
    model = make_served(wide())
    from firth.serving.embeddings import embed

    found = tf.saved_model.load(directory).signatures["embed"](text=tf.constant(TEXTS))["embedding"].numpy()
    expected = embed(model, tf.constant(TEXTS))["embedding"].numpy()
    error = np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1)
    assert 1e-6 < error.max() < TOLERANCES[kind]
    report = validate_serving(directory, exported_model().rows)
    assert report["reasons"] == [] and report["weights"] == described
    held_out = described["held_out"]
    assert held_out["quantity"] == "bits_per_byte" and held_out["rows"] == len(exported_model().rows)
    assert 0 < abs(held_out["stored"] - held_out["float32"]) < 0.02 * held_out["float32"]
    line = f"bits per byte {held_out['stored']:.4f}, and {held_out['float32']:.4f} in float32, on 10 held-out"
    assert line in weights_line(described)


def test_the_measured_loss_is_that_of_the_exported_model():
    directory = exported("int8")
    held_out = read_description(directory)["weights"]["held_out"]
    evaluate = tf.saved_model.load(directory).signatures["evaluate"]
    sums = evaluate(examples=tf.constant(exported_model().rows))
    bits = np.sum(sums["text_loss_sum"]) / np.log(2) / np.sum(sums["bytes_sum"])
    assert held_out["stored"] == pytest.approx(bits, rel=1e-5)


def test_a_bundle_is_stored_alike_held_and_streamed(tmp_path):
    model = make_served(RECIPE)
    bundle = bundle_of(model, tmp_path)
    described = export_stored(bundle, tmp_path / "held", "int8")
    assert "held_out" not in described and "was not measured" in weights_line(described)
    model = model.__class__(model.model, model.tokenizer, stored_as(RECIPE, "int8"))
    (tmp_path / "again").mkdir()
    export_bundle(bundle_of(model, tmp_path / "again"), tmp_path / "streamed")
    held, streamed = (tf.saved_model.load(str(tmp_path / name)) for name in ("held", "streamed"))
    values = {each.name: each for each in held.model_variables}
    assert any(name.endswith("/scales:0") for name in values)
    # A bundle has no seeds.
    weights = [each for each in streamed.model_variables if "seed_generator" not in each.name]
    assert len(weights) > 20
    for each in weights:
        np.testing.assert_array_equal(each, values[each.name], err_msg=each.name)
    with pytest.raises(ValueError, match="'int4'"):
        # Before the bundle is read.
        export_stored(tmp_path / "no bundle", tmp_path / "other", "int4")
    assert not (tmp_path / "other").exists()


def test_a_weight_that_cannot_be_stored_is_named(tmp_path):
    served = make_served(stored_as(RECIPE, "int8"))
    kernel = next(each for each in served.model.weights if "outer_kernel" in each.path)
    kernel.assign(np.full(kernel.shape, np.nan))
    with pytest.raises(ValueError, match="outer_kernel: a weight is not finite"):
        held_weights(served.model, "int8")
    with pytest.raises(ValueError, match="outer_kernel: a weight is not finite"):
        export_bundle(bundle_of(served, tmp_path), tmp_path / "streamed")
    assert not (tmp_path / "streamed").exists()
