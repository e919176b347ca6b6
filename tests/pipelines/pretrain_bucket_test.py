"""Runs whose artifacts are objects in a bucket: no renames, no empty folders, nothing appended."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.pipelines.bucket_server import OVERRIDES, STEPS, WITHOUT, Bucket
from tests.training.artifacts import tiny_recipe, write_artifact


def files(objects, pattern):
    """The names of objects that match as a whole, and hold something."""
    return [name for name, size in objects.items() if size and re.fullmatch(pattern, name)]


@pytest.mark.repeated
def test_a_whole_run_in_a_bucket(tmp_path, bucket_server):
    command = [sys.executable, "-m", "tests.pipelines.bucket_run", str(tmp_path), *OVERRIDES]
    with open(tmp_path / "log.txt", "w") as log:
        done = subprocess.run(
            command, stdout=log, stderr=log, env={**os.environ, **bucket_server}, timeout=1200, check=False
        )
    said = (tmp_path / "log.txt").read_text(errors="replace")
    assert done.returncode == 0, said[-5000:]
    found = json.loads(pathlib.Path(tmp_path, "found.json").read_text())
    objects = found["objects"]
    assert found["width"] == 32
    assert found["steps"] == list(range(1, STEPS + 1))
    assert found["answers"] > 0
    for pattern in (
        r"CorpusExampleGen/examples/\d+/source_counts\.json",
        r"Curator/report/\d+/corpus_report\.json",
        r"TokenizerGen/tokenizer/\d+/_SUCCESS",
        r"SequenceGen/examples/\d+/tokenizer/_SUCCESS",
        r"SequenceGen/examples/\d+/sequence_counts\.json",
        r"Trainer/model/\d+/bundle/_SUCCESS",
        r"Trainer/model/\d+/Format-Serving/_SUCCESS",
        r"Trainer/model_run/\d+/events\.out\.tfevents\..*",
        r"ServingValidator/report/\d+/serving_report\.json",
        r"serving/\d+/saved_model\.pb",
        r"Reporter/report/\d+/report\.html",
    ):
        assert len(files(objects, pattern)) == 1, pattern
    assert len(files(objects, r"checkpoints/\w+/step-\d+/_SUCCESS")) == STEPS // 2
    assert len(files(objects, r"SequenceGen/examples/\d+/Split-train/data_tfrecord-.*\.gz")) == 2
    assert not [name for name in objects if "_BEGUN" in name or "unfinished" in name]
    assert not [name for name in objects if "/." in name.replace("/.system/", "/").replace("/.temp/", "/")]
    # Nothing was taken for a local path.
    assert not list(tmp_path.glob("s3:*")) and not pathlib.Path("s3:").exists()


@contextlib.contextmanager
def training(recipe, folder, run_directory, checkpoint_root, environment, weights=""):
    """Gives the process of a training, which writes its weights to a file when it has ended."""
    command = [sys.executable, "-m", "tests.training.train_tiny", recipe.to_json(), str(folder / "artifact")]
    with open(folder / "log.txt", "a") as log:
        process = subprocess.Popen(
            [*command, run_directory, checkpoint_root, str(weights)],
            stdout=log,
            stderr=log,
            env={**os.environ, **environment},
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.mark.repeated
def test_a_training_that_is_killed_goes_on_from_its_checkpoint_in_a_bucket(tmp_path, bucket_server):
    pytest.importorskip("tensorflow_io", reason=WITHOUT)
    bucket, checkpoints = Bucket(bucket_server["S3_ENDPOINT"]), "s3://artifacts/checkpoints"
    write_artifact(tmp_path / "artifact")
    recipe = tiny_recipe(steps=15, checkpoint_every_steps=5)
    places, weights = (str(tmp_path / "run"), str(tmp_path / "checkpoints")), tmp_path / "unkilled.npz"
    with training(recipe, tmp_path, *places, {}, weights) as unkilled:
        with training(recipe, tmp_path, "s3://artifacts/first", checkpoints, bucket_server) as killed:
            bucket.wait_for(r"checkpoints/\w+/step-0000000005/_SUCCESS", killed)
            # At least a part of the second is there.
            bucket.wait_for(r"checkpoints/\w+/step-0000000010/.+", killed)
            killed.kill()
            assert killed.wait() == -signal.SIGKILL
        before = bucket.lines(r"checkpoints/\w+/history\.jsonl")
        places, resumed = ("s3://artifacts/second", checkpoints), tmp_path / "resumed.npz"
        with training(recipe, tmp_path, *places, bucket_server, resumed) as again:
            status = again.wait(300)
        assert status == 0, (tmp_path / "log.txt").read_text(errors="replace")[-5000:]
        assert unkilled.wait(300) == 0
    curve = bucket.lines(r"second/history\.jsonl")
    assert [line["step"] for line in curve] == list(range(1, 16))
    # With the seconds that the killed process took: these steps were not made again.
    assert len(before) >= 5 and curve[:5] == before[:5]
    with np.load(weights) as expected, np.load(resumed) as found:
        assert len(expected.files) > 10 and expected.files == found.files
        for name in expected.files:
            np.testing.assert_array_equal(expected[name], found[name])
    kept = re.findall(r"checkpoints/\w+/step-0*(\d+)/_SUCCESS", "\n".join(bucket.names()))
    assert kept == ["10", "15"]
    assert not [name for name in bucket.names() if "_BEGUN" in name]
