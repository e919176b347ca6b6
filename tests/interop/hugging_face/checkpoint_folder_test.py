"""Folders in Hugging Face's format: whole, in shards, and broken."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from firth.interop.errors import InteropError
from firth.interop.hugging_face.checkpoint_folder import Directory

ONE, TWO = {"one": np.arange(3.0)}, {"two": np.ones((2, 2), "float16")}


def write(folder, config=None, **files) -> str:
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"} if config is None else config))
    for name, arrays in files.items():
        save_file(arrays, folder / f"{name}.safetensors")
    return str(folder)


def read(path) -> dict[str, np.ndarray]:
    with Directory(path).tensors() as tensors:
        return dict(tensors)


def test_one_file(tmp_path):
    path = write(tmp_path, model={**ONE, **TWO})
    found = read(path)
    assert {name: each.dtype.name for name, each in found.items()} == {"one": "float64", "two": "float16"}
    assert found["one"].tolist() == [0, 1, 2]
    assert Directory(path).family.model_type == "bert"


def test_shards(tmp_path):
    path = write(tmp_path, a=ONE, b=TWO)
    index = {"weight_map": {"one": "a.safetensors", "two": "b.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert {name: each.size for name, each in read(path).items()} == {"one": 3, "two": 4}
    (tmp_path / "b.safetensors").unlink()
    with pytest.raises(InteropError, match=r"index.json names .*b.safetensors, which does not exist"):
        Directory(path)


def test_an_index_that_says_what_is_not_so(tmp_path):
    path = write(tmp_path, a=ONE)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"one": "a.safetensors", "two": "a.safetensors"}}))
    with pytest.raises(InteropError, match=r"json says that two is in .*a.safetensors, where it is not"):
        read(path)
    index.write_text(json.dumps({"weight_map": ["a.safetensors"]}))
    with pytest.raises(InteropError, match="weight_map: must map tensors to files"):
        read(path)


def test_a_dtype_without_numbers_is_named(tmp_path):
    path = write(tmp_path)
    header = b'{"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}'
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"00")
    with pytest.raises(InteropError, match="a is of dtype F8_E4M3"):
        read(path)


def test_a_cut_file_is_named(tmp_path):
    path = write(tmp_path, model=ONE)
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:-4])
    with pytest.raises(InteropError, match=r"model.safetensors cannot be read"):
        read(path)


def test_a_pickle_is_refused_and_not_read(tmp_path):
    path = write(tmp_path)
    # Reading it would be an error of another kind.
    (tmp_path / "pytorch_model.bin").write_bytes(b"cos\nsystem\n")
    with pytest.raises(InteropError, match=r"is a pickle.*safe_serialization=True"):
        Directory(path)
    write(tmp_path, {"model_type": "bert", "architectures": ["BertForMaskedLM"]})
    with pytest.raises(InteropError, match=r"transformers\.BertForMaskedLM\.from_pretrained"):
        Directory(path)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "brt"}, "'brt' is not known; did you mean bert"),
        ({}, "None is not known"),
        ([], "a mapping"),
    ],
)
def test_a_family_that_is_not_known(tmp_path, config, message):
    path = write(tmp_path, config, model=ONE)
    with pytest.raises(InteropError, match=message):
        print(Directory(path).family)


def test_folders_without_a_model(tmp_path):
    with pytest.raises(InteropError, match="there is no folder"):
        Directory(tmp_path / "nowhere")
    with pytest.raises(InteropError, match=r"holds no config.json"):
        Directory(tmp_path)
    with pytest.raises(InteropError, match=r"holds no model.safetensors"):
        Directory(write(tmp_path))
