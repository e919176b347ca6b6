"""An original checkpoint becomes a bundle, and a bundle becomes one again."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf
from safetensors.numpy import save_file

from firth.interop import hugging_face
from firth.interop.tensorflow import export_model, import_model
from firth.models.bundle import load_model
from tests.interop.tensorflow import originals
from tests.repeating import often

FEATURES = {
    "token_ids": np.array([[2, 5, 6, 7, 3, 8, 9, 3]], "int32"),
    "segment_ids": np.array([[0, 0, 0, 0, 0, 1, 1, 1]], "int32"),
    "position_ids": np.arange(8, dtype="int32")[np.newaxis],
    "document_ids": np.ones((1, 8), "int32"),
}


def states(bundle):
    model = load_model(bundle, dtype="float32")
    return keras.ops.convert_to_numpy(model.backbone(FEATURES))


def published(tensors):
    """BERT's tensors by the names and in the layout of Hugging Face's format."""
    made = {}
    for name, tensor in tensors.items():
        name = name.replace("/", ".").replace("layer_", "layer.")
        for theirs, ours in (
            ("_embeddings", "_embeddings.weight"), ("kernel", "weight"),
            ("gamma", "weight"), ("beta", "bias"),
            ("output_weights", "weight"), ("output_bias", "bias"),
        ):  # fmt: skip
            if name.endswith(theirs):
                name = name.removesuffix(theirs) + ours
        made[name] = np.ascontiguousarray(tensor.T if "dense.w" in name or ".self." in name else tensor)
    return made


def test_bert_comes_in_as_hugging_faces_files_of_the_same_weights_do(tmp_path):
    tensors = originals.random(originals.bert())
    read = import_model(originals.write(tmp_path / "tf", tensors), tmp_path / "ours", "bert")
    assert read.fresh == () and read.surplus == ()
    (tmp_path / "hf").mkdir()
    save_file(published(tensors), tmp_path / "hf" / "model.safetensors")
    config = {**originals.BERT, "model_type": "bert", "hidden_act": "gelu_new"}
    (tmp_path / "hf" / "config.json").write_text(json.dumps(config))
    (tmp_path / "hf" / "vocab.txt").write_text("\n".join(originals.PIECES), encoding="utf-8")
    theirs = hugging_face.import_model(tmp_path / "hf", tmp_path / "theirs", "bert")
    assert theirs.fresh == ()
    np.testing.assert_array_equal(states(tmp_path / "ours"), states(tmp_path / "theirs"))


FAMILIES = ["bert", "albert", "electra", "xlnet", "gpt2", "t5", "t5_1_1"]


@pytest.fixture(scope="module", params=often(FAMILIES, ["bert", "xlnet", "gpt2", "t5_1_1"]))
def brought(request, tmp_path_factory):
    """A folder of a family, its tensors, what is reported of its import, its bundle and its export."""
    home = tmp_path_factory.mktemp(request.param)
    folder, tensors = originals.write_family(home / "in", request.param)
    read = import_model(folder, home / "bundle", request.param)
    written = export_model(home / "bundle", home / "out")
    return home, tensors, read, written


def test_tensors_come_out_as_they_came_in(brought):
    home, tensors, read, written = brought
    found = originals.read(home / "out")
    assert found.keys() == tensors.keys() and written.notes == () and read.fresh == read.surplus == ()
    for key, tensor in tensors.items():
        np.testing.assert_array_equal(found[key], tensor, err_msg=key)
    # As the command says, and as the code of GPT-2 does.
    assert tf.train.load_checkpoint(home / "out").get_variable_to_shape_map().keys() == tensors.keys()


def test_configuration_and_tokenizer_come_out_as_they_came_in(brought):
    home, *_ = brought
    for file in (home / "in").iterdir():
        if (file.suffix == ".json" and "config" in file.name) or file.name == "hparams.json":
            before, now = (json.loads((home / each / file.name).read_text()) for each in ("in", "out"))
            assert {key: now.get(key) for key in before if key not in ("net_structure_type",)} == {
                key: value for key, value in before.items() if key not in ("net_structure_type",)
            }
        elif file.name in ("vocab.txt", "vocab.bpe", "spiece.model"):
            assert (home / "out" / file.name).read_bytes() == file.read_bytes()
    again = import_model(home / "out", home / "again", "again")
    assert again.fresh == again.surplus == ()
    for name in ("recipe.yaml",):
        first, second = ((home / each / name).read_text() for each in ("bundle", "again"))
        assert first.replace(f"name: {home.name}", "").split("\n", 1)[1] == second.split("\n", 1)[1]
