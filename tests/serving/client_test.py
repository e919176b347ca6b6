import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from firth.serving import Client, NoModelError, forget_client, shared_client
from tests.exported_model import client_of_exported
from tests.reports.stub_model import save_stub_model


@pytest.fixture(scope="module")
def client():
    return client_of_exported()


def test_candidates_are_listed_by_text_and_mask(client):
    answers = client.fill_mask(["the [MASK] sat on the [MASK]", "no mask", "[MASK]"])
    assert [len(masks) for masks in answers] == [2, 0, 1]
    assert [len(candidates) for masks in answers for candidates in masks] == [3, 3, 3]
    for masks in answers:
        for candidates in masks:
            scores = [candidate.score for candidate in candidates]
            assert scores == sorted(scores, reverse=True)
            assert all(candidate.piece for candidate in candidates)


def test_embeddings_are_rows(client):
    vectors = client.embed(["the cat", "sat", ""])
    assert vectors.shape == (3, 8)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(client.embed(["sat"])[0], vectors[1], rtol=1e-4, atol=1e-5)


def test_no_text_has_no_answer(client):
    assert client.fill_mask([]) == []
    assert client.embed([]).shape == (0, 8)


def test_the_newest_complete_version_is_taken(tmp_path):
    # 10 is newer than 9, though it sorts before it; 11 is still being copied.
    save_stub_model(tmp_path / "9")
    shutil.copytree(tmp_path / "9", tmp_path / "10")
    (tmp_path / "11").mkdir()
    (tmp_path / "99.partial").mkdir()
    assert Client(tmp_path).path == os.fspath(tmp_path / "10")


def test_a_shared_client_is_loaded_once_and_again_for_other_files(tmp_path):
    folder = tmp_path / "model"
    save_stub_model(folder)
    try:
        first = shared_client(folder)
        assert shared_client(os.fspath(folder)) is first
        # The same folder, with another model: a file of its weights is written again.
        (index,) = folder.glob("variables/*.index")
        index.write_bytes(index.read_bytes())
        second = shared_client(folder)
        assert second is not first
        np.testing.assert_array_equal(second.embed(["the cat"]), first.embed(["the cat"]))
        forget_client()
        assert shared_client(folder) is not second
    finally:
        forget_client()


def test_where_nothing_was_pushed_the_error_says_so(tmp_path):
    with pytest.raises(NoModelError, match="no version"):
        Client(tmp_path)
    with pytest.raises(NoModelError, match="nowhere"):
        Client(tmp_path / "nowhere")


def test_the_package_is_imported_without_tensorflow():
    lazy = "import sys, firth.serving; assert 'tensorflow' not in sys.modules"
    subprocess.run([sys.executable, "-c", lazy], check=True)
