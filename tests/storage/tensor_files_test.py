"""Files of tensors, next to what safetensors itself reads and writes."""

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

from firth.storage.tensor_files import (
    DTYPES,
    TensorFile,
    TensorSpec,
    UnreadableDtypeError,
    open_tensors,
    spec_of,
    write_tensors as write,
)

TENSORS = {
    "matrix": np.arange(6, dtype="float32").reshape(2, 3),
    "transposed": np.arange(6, dtype="float32").reshape(2, 3).T,
    "number": np.array(3, "int64"),
    "empty": np.zeros((0, 4), "float16"),
    "flags": np.array([True, False, True]),
}


def write_tensors(path, tensors, metadata=()):
    write(path, {name: spec_of(each) for name, each in tensors.items()}, tensors.items(), dict(metadata))


def test_safetensors_reads_what_is_written(tmp_path):
    write_tensors(tmp_path / "file", TENSORS, {"format": "pt"})
    found = safetensors.numpy.load_file(tmp_path / "file")
    assert set(found) == set(TENSORS)
    for name, tensor in TENSORS.items():
        assert found[name].dtype == tensor.dtype
        np.testing.assert_array_equal(found[name], tensor)
    with safetensors.safe_open(tmp_path / "file", "numpy") as file:
        assert file.metadata() == {"format": "pt"}


def test_what_safetensors_writes_is_read(tmp_path):
    given = {name: np.ascontiguousarray(each) for name, each in TENSORS.items()}
    safetensors.numpy.save_file(given, tmp_path / "file", {"a": "b"})
    file = TensorFile(tmp_path / "file")
    assert (set(file), len(file), file.metadata) == (set(given), len(given), {"a": "b"})
    for name, tensor in given.items():
        assert file.spec(name) == spec_of(tensor)
        np.testing.assert_array_equal(file[name], tensor)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_every_dtype_comes_back(tmp_path, dtype):
    tensor = np.array([0, 1, 1], dtype)
    write_tensors(tmp_path / "file", {"a": np.ones(3, "int8"), "b": tensor})
    found = TensorFile(tmp_path / "file")["b"]
    assert found.dtype == dtype and found.tobytes() == tensor.tobytes()


def test_a_cut_file_is_refused(tmp_path):
    write_tensors(tmp_path / "file", {"a": np.ones(3, ml_dtypes.bfloat16)})
    (tmp_path / "cut").write_bytes((tmp_path / "file").read_bytes()[:-1])
    with pytest.raises(safetensors.SafetensorError):
        TensorFile(tmp_path / "cut")
    # A file is named by its path, or by the name that it is given.
    for file in ("cut", "none"):
        for name, named in (("", str(tmp_path / file)), ("weights", "weights")):
            with pytest.raises(ValueError, match=f"^{named} cannot be read"):
                open_tensors(tmp_path / file, ValueError, name)


def test_a_dtype_without_numbers_in_numpy(tmp_path):
    header = b'{"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}'
    (tmp_path / "file").write_bytes(len(header).to_bytes(8, "little") + header + b"\0\0")
    with pytest.raises(UnreadableDtypeError, match=r"a .*F8_E4M3.* F64, F32"):
        print(TensorFile(tmp_path / "file")["a"])


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ([], "no tensor a"),
        ([("a", np.zeros(2, "float32"))], "a is TensorSpec"),
        ([("b", np.zeros(3, "float32"))], "b is TensorSpec"),
        ([("a", np.zeros(3, "float32"))] * 2, "a is TensorSpec"),
    ],
)
def test_tensors_are_those_of_the_specs(tmp_path, tensors, message):
    with pytest.raises(ValueError, match=message):
        write(tmp_path / "file", {"a": TensorSpec("F32", (3,))}, tensors, {})
