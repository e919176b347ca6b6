"""An export whose weights are stored in another type: its size, its answers and what it says of its loss."""

import functools
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from firth.serving import read_description
from firth.serving.bundle import export_bundle, export_stored
from firth.serving.embeddings import embed
from firth.serving.exported_model import weights_line
from firth.serving.isolated_check import graph_ops, libraries
from firth.serving.slots.loaded import Loaded
from firth.serving.stored_weights.weights import HeldWeights, describe_weights, model_weights
from tests.exported_model import RECIPE, exported_model, exported_rows, make_served
from tests.serving.stored_weights.weights_test import bundle_of
from tests.serving.storing.models import ROWS, WIDE, exported_in_8_bits, stored_as

# How far answers are from those of the weights as they are, as a share of their size.
TOLERANCES = {"bfloat16": 0.02, "int8": 0.03}
TEXTS = ["the cat [MASK] on the mat .", "a word"]


@functools.cache
def loaded(directory) -> Loaded:
    return Loaded(directory)


def variable_bytes(directory) -> int:
    return sum(path.stat().st_size for path in pathlib.Path(directory, "variables").glob("*.data-*"))


def test_float32_stores_the_variables_of_the_model_themselves():
    model = make_served(RECIPE).model
    weights = model_weights(model, "float32")
    assert isinstance(weights, HeldWeights)
    assert all(one is other.value for one, other in zip(weights.variables, model.variables))
    function = object()
    assert weights.bind(function) is function
    described = read_description(exported_model().directory)["weights"]
    assert described["type"] == "float32" and described["bytes"] == described["float32_bytes"]
    assert "held_out" not in described


# The next test has those in 8 bits.
@pytest.mark.parametrize(
    ("kind", "limit"), [("bfloat16", 0.6), pytest.param("int8", 0.4, marks=pytest.mark.repeated)]
)
def test_weights_of_another_type_are_smaller_and_answer_alike(kind, limit):
    served = make_served(stored_as(WIDE, kind))
    weights = model_weights(served.model, kind)
    described = describe_weights(served, weights, ())
    assert described["type"] == kind and described["bytes"] < limit * described["float32_bytes"]
    found = weights.bind(functools.partial(embed, served))(tf.constant(TEXTS))["embedding"].numpy()
    assert 1e-6 < error_of(found) < TOLERANCES[kind]


def error_of(found):
    expected = embed(make_served(WIDE), tf.constant(TEXTS))["embedding"].numpy()
    return (np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1)).max()


def test_a_reduced_export_is_smaller_and_answers_alike(made_once):
    directory = exported_in_8_bits(made_once)
    assert None not in libraries(graph_ops(directory)).values()
    described = read_description(directory)["weights"]
    assert described["type"] == "int8" and described["bytes"] < 0.4 * described["float32_bytes"]
    # The file also holds a table of its entries.
    assert described["bytes"] <= variable_bytes(directory) < described["bytes"] + 20_000
    found = loaded(directory).run("embed", {"text": [text.encode() for text in TEXTS]})["embedding"]
    assert 1e-6 < error_of(found) < TOLERANCES["int8"]


def test_the_measured_loss_is_that_of_the_exported_model(made_once):
    directory, rows = exported_in_8_bits(made_once), exported_rows()[0][:ROWS]
    described = read_description(directory)["weights"]
    held_out = described["held_out"]
    assert held_out["quantity"] == "bits_per_byte" and held_out["rows"] == len(rows)
    assert 0 < abs(held_out["stored"] - held_out["float32"]) < 0.02 * held_out["float32"]
    stored, whole = (f"{held_out[each]:.4f}" for each in ("stored", "float32"))
    line = f"bits per byte {stored}, and {whole} in float32, on {ROWS} held-out"
    assert line in weights_line(described)
    sums = loaded(directory).run("evaluate", {"examples": rows})
    bits = np.sum(sums["text_loss_sum"]) / np.log(2) / np.sum(sums["bytes_sum"])
    assert held_out["stored"] == pytest.approx(bits, rel=1e-5)


def test_a_bundle_is_stored_alike_held_and_streamed(tmp_path, signature_of_texts):
    model = make_served(RECIPE)
    bundle = bundle_of(model, tmp_path)
    described = export_stored(bundle, tmp_path / "held", weights="int8")["weights"]
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
        export_stored(tmp_path / "no bundle", tmp_path / "other", weights="int4")
    assert not (tmp_path / "other").exists()


def test_a_weight_that_cannot_be_stored_is_named(tmp_path, signature_of_texts):
    served = make_served(stored_as(RECIPE, "int8"))
    kernel = next(each for each in served.model.weights if "outer_kernel" in each.path)
    kernel.assign(np.full(kernel.shape, np.nan))
    with pytest.raises(ValueError, match="outer_kernel: "):
        model_weights(served.model, "int8")
    with pytest.raises(ValueError, match="outer_kernel: "):
        export_bundle(bundle_of(served, tmp_path), tmp_path / "streamed")
    assert not (tmp_path / "streamed").exists()
