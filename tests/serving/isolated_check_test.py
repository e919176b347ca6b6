import ctypes
import types
from unittest import mock

import numpy as np
import pytest

from firth.serving import isolated_check

OUTPUTS = {"vector": np.array([[1.0, 2.0, 0.0]], np.float32), "pieces": np.array([[b"a", b"b", b""]], object)}


@pytest.mark.parametrize(
    "single, problem",
    [
        ({"vector": [[1.0, 2.0]], "pieces": [[b"a", b"b"]]}, None),
        ({"vector": [[1.0, 2.00001]], "pieces": [[b"a", b"b"]]}, None),
        ({"vector": [[1.0, 2.1]], "pieces": [[b"a", b"b"]]}, "vector of row 0 differs"),
        ({"vector": [[1.0, 2.0]], "pieces": [[b"a", b"c"]]}, "pieces of row 0 differs"),
        ({"vector": [[1.0]], "pieces": [[b"a", b"b"]]}, "vector of row 0 is not padded"),
        ({"vector": [[1.0, 2.0]], "pieces": [[b"a"]]}, "pieces of row 0 is not padded"),
    ],
)
def test_a_row_must_be_the_same_alone(single, problem):
    alone = {
        "vector": np.array(single["vector"], np.float32),
        "pieces": np.array(single["pieces"], object),
    }
    found = isolated_check.difference(OUTPUTS, alone, 0, ["vector", "pieces"], 1e-4)
    assert found is None if problem is None else problem in found


@pytest.mark.parametrize(
    "values, problem",
    [([1.0, 2.0], None), ([1.0], "shape"), ([1.0, np.nan], "not finite"), ([1.0, np.inf], "not finite")],
)
def test_outputs_must_be_finite_and_shaped_by_the_batch(values, problem):
    found = isolated_check.problem_of({"out": np.array(values, np.float32)}, 2)
    assert found is None if problem is None else problem in found


def test_a_library_that_cannot_be_loaded_is_named(tmp_path, monkeypatch):
    (tmp_path / "libtensorflow_cc.so.2").write_bytes(b"no library")
    session = isolated_check.isolated_session
    monkeypatch.setattr(session, "package_folder", lambda name: tmp_path)
    with pytest.raises(ImportError, match=r"libtensorflow_cc\.so\.2"):
        session.library.__wrapped__()


@pytest.mark.parametrize("exported", [True, False])
def test_the_library_exports_its_symbols_where_tensorflows_import_does(tmp_path, monkeypatch, exported):
    (tmp_path / "python").mkdir()
    (tmp_path / "libtensorflow_cc.so.2").touch()
    if exported:
        (tmp_path / "python" / "pywrap_dlopen_global_flags.py").touch()
    session, modes = isolated_check.isolated_session, []
    monkeypatch.setattr(session, "package_folder", lambda name: tmp_path)
    monkeypatch.setattr(ctypes, "CDLL", lambda path, mode: modes.append(mode) or mock.MagicMock())
    session.library.__wrapped__()
    assert modes == [ctypes.RTLD_GLOBAL if exported else ctypes.RTLD_LOCAL]


def test_texts_that_are_not_bytes_are_refused_before_memory_is_taken():
    info = types.SimpleNamespace(dtype=7, tensor_shape=types.SimpleNamespace(dim=[0]))
    with pytest.raises(TypeError, match="'b'"):
        isolated_check.isolated_session._tensor([b"a", "b"], info)
