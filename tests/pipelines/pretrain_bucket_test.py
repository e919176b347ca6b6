"""A whole run whose artifacts are objects in a bucket: no renames, no empty folders, nothing appended."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

STEPS = 4
OVERRIDES = (
    "sources=[{kind: docstrings, packages: [json, email, unittest], standard_library: false}]",
    "cleaning.split.eval_fraction=0.1",
    "tokenizer.vocabulary_size=400",
    "sequences={length: 32, max_documents: 2, shards: 2}",
    "objective.max_predictions=5",
    "model={layers: 1, width: 32, attention: {heads: 2}, positions: {length: 32}}",
    f"training={{steps: {STEPS}, batch_size: 4, checkpoint_every_steps: 2, log_every_steps: 1, "
    "optimizer: {learning_rate: 1e-3, warmup_steps: 2}}",
    "evaluation.thresholds=[]",
)
WITHOUT = "tensorflow-io, through which TensorFlow reads s3://, has no release for this TensorFlow"


@pytest.fixture
def bucket_server(tmp_path):
    """The environment variables with which `s3://` is a server on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    # Not in this process's thread: TensorFlow waits for answers without letting other threads run.
    with open(tmp_path / "server.txt", "w") as log:
        command = [sys.executable, "-m", "moto.server", "-p", str(port)]
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(port, server)
        yield {
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": url,
            "S3_ENDPOINT": url,
            "S3_USE_HTTPS": "0",
            "S3_VERIFY_SSL": "0",
        }
    finally:
        server.terminate()
        server.wait()


def wait_for(port, server):
    while server.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"the server ended with {server.returncode}")


def files(objects, pattern):
    """The names of objects that match as a whole, and hold something."""
    return [name for name, size in objects.items() if size and re.fullmatch(pattern, name)]


@pytest.mark.repeated
def test_a_whole_run_in_a_bucket(tmp_path, bucket_server):
    pytest.importorskip("tensorflow_io", reason=WITHOUT)
    command = [sys.executable, "-m", "tests.pipelines.bucket_run", str(tmp_path), *OVERRIDES]
    with open(tmp_path / "log.txt", "w") as log:
        done = subprocess.run(
            command, stdout=log, stderr=log, env={**os.environ, **bucket_server}, timeout=1200, check=False
        )
    said = (tmp_path / "log.txt").read_text(errors="replace")
    assert done.returncode in (0, -signal.SIGABRT), said[-5000:]
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
