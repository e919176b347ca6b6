"""A server of S3 on this machine, what is seen of it without TensorFlow, and a recipe for runs in it."""

import contextlib
import importlib.util
import json
import re
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


@contextlib.contextmanager
def serving(log_path):
    """Gives the environment variables with which `s3://` is a server on this machine."""
    if importlib.util.find_spec("tensorflow_io") is None:
        pytest.skip(WITHOUT)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    # Not in this process's thread: TensorFlow waits for answers without letting other threads run.
    with open(log_path, "w") as log:
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


class Bucket:
    """A bucket as it is seen without TensorFlow."""

    def __init__(self, url):
        import boto3  # Where the server is, this is too.

        secrets = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
        self._client = boto3.client("s3", endpoint_url=url, region_name="us-east-1", **secrets)
        self._client.create_bucket(Bucket="artifacts")

    def names(self):
        found = self._client.list_objects_v2(Bucket="artifacts").get("Contents", [])
        return [each["Key"] for each in found]

    def write(self, name, content):
        self._client.put_object(Bucket="artifacts", Key=name, Body=content)

    def read(self, path):
        """The bytes of an object of this bucket, `s3://artifacts/name`."""
        name = path.removeprefix("s3://artifacts/")
        return self._client.get_object(Bucket="artifacts", Key=name)["Body"].read()

    def lines(self, pattern):
        """The values in the only file of a name, one JSON object a line."""
        (name,) = [name for name in self.names() if re.fullmatch(pattern, name)]
        body = self._client.get_object(Bucket="artifacts", Key=name)["Body"]
        return [json.loads(line) for line in body.iter_lines()]

    def wait_for(self, pattern, process):
        deadline = time.monotonic() + 300
        while not any(re.fullmatch(pattern, name) for name in self.names()):
            assert process.poll() is None, "the training ended by itself"
            assert time.monotonic() < deadline, f"there is no {pattern}"
            time.sleep(0.02)
