"""A process that has made no pipeline lists the files of a bucket."""

import os
import subprocess
import sys

import pytest

from tests.pipelines.bucket_server import Bucket, serving

SCRIPT = (
    "from firth.corpus.io.source_files import match_files; print(match_files('a', ('s3://artifacts/*.txt',)))"
)


@pytest.mark.repeated
def test_a_source_in_a_bucket_is_listed_first(tmp_path):
    with serving(tmp_path / "server.txt") as environment:
        Bucket(environment["S3_ENDPOINT"]).write("a.txt", b"A word.")
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert "path='s3://artifacts/a.txt'" in done.stdout, done.stderr[-2000:]
