"""Weights that a method adds or chooses train on several replicas as on one, with penalties and scores."""

import subprocess
import sys

import numpy as np
import pytest

from tests.tuning.train_methods import SETTINGS


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Folders with the weights after runs on one replica and on two."""
    folders = {}
    for replicas in (1, 2):
        folders[replicas] = tmp_path_factory.mktemp(f"on_{replicas}")
        command = [sys.executable, "-m", "tests.tuning.train_methods", folders[replicas], str(replicas)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-4000:]
    return folders


@pytest.mark.repeated
@pytest.mark.parametrize("kind, family", SETTINGS)
def test_two_replicas_equal_one(kind, family, trained):
    """Dropout included, which follows from the examples."""
    one, two = (dict(np.load(folder / f"{kind}-{family}.npz")) for folder in trained.values())
    assert one.keys() == two.keys()
    assert any(path.startswith("added/") for path in one) == SETTINGS[kind, family].adds
    for path, each in one.items():
        np.testing.assert_allclose(two[path], each, atol=2e-4, err_msg=path)
