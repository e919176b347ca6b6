"""A folder that is not a preset, or does not fit, is refused by file and key."""

import json
import shutil

import h5py
import keras_hub
import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.interop.keras_hub.preset import Preset
from tests.interop.keras_hub import tiny


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "preset"
    tiny.backbone("distil_bert").save_to_preset(str(folder))
    return folder


@pytest.fixture
def preset(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "preset")


def change(preset, file="config.json", **values):
    content = json.loads((preset / file).read_text())
    (preset / file).write_text(json.dumps({**content, **values}))


def test_what_is_no_preset(tmp_path):
    with pytest.raises(InteropError, match=r"there is no folder .*/nothing"):
        Preset(tmp_path / "nothing")
    with pytest.raises(InteropError, match=r"holds no config.json: it is not a preset"):
        Preset(tmp_path)
    (tmp_path / "task.json").write_text("{}")
    with pytest.raises(InteropError, match=r"holds task.json, a task, but no config.json, its backbone"):
        Preset(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InteropError, match=r"config.json:1:2: is not JSON"):
        Preset(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InteropError, match=r"config.json: is in Hugging Face's format"):
        Preset(tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("keras_hub>DistilBertBackbon", "did you mean DistilBertBackbone"),
        ("evil>DistilBertBackbone", "'evil>DistilBertBackbone' is not known"),
        ("builtins>eval", "'builtins>eval' is not known"),
        (None, "None is not known"),
    ],
)
def test_no_class_but_known_ones_is_looked_up(preset, name, message):
    change(preset, registered_name=name, module="os", class_name="system")
    with pytest.raises(InteropError, match=f"config.json: registered_name: .*{message}"):
        Preset(preset)


def test_what_the_older_package_wrote_is_read(preset):
    change(preset, registered_name="keras_nlp>DistilBertBackbone", module="keras_nlp.src.models")
    assert Preset(preset).family.backbone == "DistilBertBackbone"


def test_keys_that_are_missing_or_unknown(preset):
    tiny.add_to_config(preset, {"rotary": True})
    with pytest.raises(InteropError, match=r"config.json: config.rotary: is not known"):
        Preset(preset)
    tiny.add_to_config(preset, {"rotary": None, "hidden_dim": None})
    with pytest.raises(InteropError, match=r"config.json: config.hidden_dim: is missing"):
        Preset(preset)


def test_a_value_that_cannot_be_expressed(preset):
    tiny.add_to_config(preset, {"num_heads": 5})
    with pytest.raises(InteropError, match=r"config.json: config.*heads: 5 does not divide width: 12"):
        Preset(preset).model()


def test_shards(whole, preset):
    backbone = keras_hub.models.Backbone.from_preset(str(whole))
    (preset / "model.weights.h5").unlink()
    backbone.save_to_preset(str(preset), max_shard_size=4e-6)
    assert len(list(preset.glob("model_*.weights.h5"))) > 1
    alone, sharded = Preset(whole).weights(), Preset(preset).weights()
    assert (
        all(np.array_equal(alone[name], sharded[name]) for name in alone) and alone.keys() == sharded.keys()
    )


def test_weights_that_are_cut_short(preset):
    file = preset / "model.weights.h5"
    file.write_bytes(file.read_bytes()[:2000])
    with pytest.raises(InteropError, match=r"model.weights.h5: is damaged, or does not .*truncated"):
        Preset(preset).weights()


def test_weights_of_another_shape_or_none(preset):
    tiny.add_to_config(preset, {"intermediate_dim": 24})
    with pytest.raises(InteropError, match=r"feedforward_intermediate_dense.*\(12, 24\).*\(12, 20\)"):
        Preset(preset).weights()
    (preset / "model.weights.h5").unlink()
    with pytest.raises(InteropError, match=r"holds neither model.weights.h5 nor model.weights.json"):
        Preset(preset).weights()


def test_a_weight_outside_of_the_folder_is_not_read(preset):
    (preset / "model.weights.h5").rename(preset.parent / "model.weights.h5")
    (preset / "model.weights.json").write_text(json.dumps({"weight_map": {"/a/vars": "../model.weights.h5"}}))
    with pytest.raises(InteropError, match=r"weight_map: '../model.weights.h5' is not a file of the folder"):
        Preset(preset).weights()
    (preset / "model.weights.json").write_text(json.dumps({"weight_map": {"/a/vars": ["part.h5"]}}))
    with pytest.raises(InteropError, match=r"names part.h5, which does not exist"):
        Preset(preset).weights()


def test_a_link_to_another_file_is_not_followed(preset):
    with h5py.File(preset / "model.weights.h5", "a") as file:
        layer = next(name for name in file["layers"] if "norm" in name)
        del file["layers"][layer]
        file["layers"][layer] = h5py.ExternalLink(str(preset / "config.json"), "/vars")
    with pytest.raises(InteropError, match=r"model.weights.h5: is damaged, or does not fit"):
        Preset(preset).weights()


def test_halved_weights_are_read_and_quantized_ones_refused(tmp_path):
    backbone = keras_hub.models.DistilBertBackbone(**{**tiny.POSITIONS, "num_layers": 1}, dtype="bfloat16")
    tiny.randomised(backbone).save_to_preset(str(tmp_path))
    weights = Preset(tmp_path).weights()
    for weight in backbone.weights:
        np.testing.assert_array_equal(weights[weight.path], np.array(weight).astype("float32"))
    tiny.add_to_config(tmp_path, {"dtype": {"class_name": "DTypePolicyMap", "config": {"name": "map"}}})
    with pytest.raises(InteropError, match=r"config.dtype: 'map' cannot be expressed here; float32"):
        Preset(tmp_path)
