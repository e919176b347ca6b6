import json
import os

import pytest
import tensorflow as tf

from firth.serving import read_description, validate_serving
from firth.serving.exported_model import FOLDER
from firth.serving.validation import OF_MASKS, TEXT_CASES
from tests.exported_model import exported_model
from tests.forked_validation import forked_validation

STRING = {"dtype": "string", "shape": ["batch"], "meaning": "a text"}
VECTOR = {"dtype": "float32", "shape": ["batch", 2], "meaning": "its vector"}


@pytest.fixture(scope="module")
def report():
    return validate_serving(exported_model().directory, exported_model().rows)


def test_a_sound_model_is_blessed(report):
    assert report["weights"] == read_description(exported_model().directory)["weights"]
    assert report["reasons"] == []
    assert report["blessed"]
    assert json.loads(json.dumps(report)) == report


def test_every_signature_is_described_and_tried(report):
    assert set(report["signatures"]) == {"evaluate", "embed", "embed_tokens", "fill_mask", "serving_default"}
    fill_mask = report["signatures"]["fill_mask"]
    assert fill_mask["inputs"] == {
        "text": {"dtype": "string", "shape": ["batch"], "meaning": "text with masks"}
    }
    scores = fill_mask["outputs"]["scores"]
    assert (scores["dtype"], scores["shape"]) == ("float32", ["batch", "masks", 3])
    for name in ("fill_mask", "embed", "embed_tokens"):
        tried = [case["name"] for case in report["signatures"][name]["cases"]]
        expected = [each for each in TEXT_CASES if name == "fill_mask" or each not in OF_MASKS]
        assert tried[: len(expected)] == expected
        assert len(tried) == len(expected) + 2
    evaluated = {case["name"]: case["batch"] for case in report["signatures"]["evaluate"]["cases"]}
    assert evaluated["many"] == 10


def test_ops_are_listed_with_their_library(report):
    libraries = {op["name"]: op["library"] for op in report["ops"]}
    assert libraries["ParseExampleV2"] == "tensorflow"
    assert "tensorflow_text" in libraries.values()
    assert None not in libraries.values()
    assert report["size_bytes"] > 0


def test_a_model_that_the_serving_loader_cannot_run_is_not_blessed(tmp_path):
    """Keras 3 variables save, load in TensorFlow 2, and are not found by TF Serving's loader."""
    import keras

    dense = keras.layers.Dense(2)
    dense.build((None, 1))
    module = tf.Module()
    module.tracked = dense.variables

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def embed(text):
        return {"embedding": dense(tf.cast(tf.strings.length(text), tf.float32)[:, tf.newaxis])}

    directory = str(tmp_path / "model")
    tf.saved_model.save(module, directory, signatures={"embed": embed})
    os.makedirs(os.path.join(directory, FOLDER))
    description = {
        "recipe": {"training": {"precision": "float32"}},
        "signatures": {
            name: {"inputs": {"text": STRING}, "outputs": {"embedding": VECTOR}, "invariant": []}
            for name in ("fill_mask", "embed")
        },
        "other_signatures": {},
        "evaluation_sums": ["mlm_loss_sum"],
    }
    (tmp_path / "model" / FOLDER / "firth.json").write_text(json.dumps(description))
    assert tf.saved_model.load(directory).signatures["embed"](text=tf.constant(["a"]))
    with forked_validation():
        report = validate_serving(directory)
    assert not report["blessed"]
    assert any("Could not find variable" in reason for reason in report["reasons"])
    assert any("no signature fill_mask" in reason for reason in report["reasons"])
    described = [reason for reason in report["reasons"] if "description" in reason]
    assert [reason.partition(": ")[0] for reason in described] == ["fill_mask"]


def test_a_process_that_takes_too_long_is_not_blessed():
    report = validate_serving(exported_model().directory, timeout_seconds=0.2)
    assert "0.2 s" in report["reasons"][0]
