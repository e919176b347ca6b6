"""The description of an exported model is that of its graphs."""

import dataclasses
import json
import os

import pytest
import tensorflow as tf

from firth.serving import read_description
from firth.serving.exported_model import DESCRIPTION, FOLDER
from firth.serving.signature import Output, Signature, describe_signature
from firth.serving.signatures import text_signatures
from tests.exported_model import RECIPE, exported_model


def test_an_export_describes_all_its_tensors():
    description = read_description(exported_model().directory)
    assert set(description["signatures"]) == {"fill_mask", "embed", "embed_tokens"}
    assert set(description["other_signatures"]) == {"evaluate"}
    fill_mask = description["signatures"]["fill_mask"]
    assert fill_mask["meaning"] == "Proposes pieces for each mask of a text."
    assert fill_mask["inputs"]["text"]["dtype"] == "string"
    # The number of candidates is the recipe's, the width the model's.
    assert fill_mask["outputs"]["pieces"]["shape"] == ["batch", "masks", 3]
    assert description["signatures"]["embed"]["outputs"]["embedding"]["shape"] == ["batch", 8]
    assert description["other_signatures"]["evaluate"]["outputs"]["mlm_loss_sum"]["shape"] == ["batch"]
    for each in description["signatures"].values():
        assert all(output["meaning"] for output in each["outputs"].values())


def test_what_is_described_wrongly_is_refused():
    vector = Output("vector", shape=("batch", "width"))
    signature = Signature(print, {"embedding": vector})

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def embed(text):
        return {"embedding": tf.zeros([tf.shape(text)[0], 2])}

    assert describe_signature(signature, embed)["outputs"]["embedding"]["shape"] == ["batch", 2]
    for wrong in (dataclasses.replace(vector, dtype="int32"), dataclasses.replace(vector, shape=("batch",))):
        with pytest.raises(ValueError, match=r"embedding: described as .*, but the graph answers float32"):
            describe_signature(Signature(print, {"embedding": wrong}), embed)
    with pytest.raises(ValueError, match=r"embedding; .*vector"):
        describe_signature(Signature(print, {"vector": vector}), embed)


def test_what_may_depend_on_the_batch_is_not_compared():
    signature = text_signatures(RECIPE)["fill_mask"]
    assert "pieces" in signature.outputs and "pieces" not in signature.invariant
    read = ["truncated", "tokens_read", "tokens_given"]
    assert signature.describe()["invariant"] == ["scores", "mask_positions", "mask_count", *read]


def test_a_description_of_an_earlier_version_is_refused(tmp_path):
    (tmp_path / FOLDER).mkdir()
    path = tmp_path / FOLDER / DESCRIPTION
    path.write_text(json.dumps({"signatures": {}, "evaluation_sums": []}))
    with pytest.raises(ValueError, match="earlier version"):
        read_description(os.fspath(tmp_path))
    path.unlink()
    assert read_description(os.fspath(tmp_path))["signatures"] == {}
