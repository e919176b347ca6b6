"""`firth train-worker` on a disk that is full."""

import tensorflow as tf

from firth.training.checkpoints import Checkpoints
from tests.training.artifacts import tiny_recipe, write_artifact


def test_a_full_disk_is_told_in_a_sentence(firth, eager, tmp_path, monkeypatch):
    def write(*_):
        raise tf.errors.ResourceExhaustedError(None, None, "part-00000; No space left on device [Op:SaveV2]")

    monkeypatch.delenv("TF_CONFIG", raising=False)
    monkeypatch.setattr(Checkpoints, "_write", write)
    write_artifact(tmp_path / "rows")
    (tmp_path / "tiny.yaml").write_text(tiny_recipe(steps=2).to_json())
    places = ["--rows", "rows", "--output", "model", "--checkpoints", "checkpoints"]
    told = firth("train-worker", "tiny.yaml", *places)
    assert told.exit_code == 1
    assert "the disk of checkpoints is full" in told.stderr
    assert "make room, and the same command continues" in told.stderr
