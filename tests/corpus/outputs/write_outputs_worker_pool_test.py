"""A corpus is cleaned and written by workers of a pool of their own, which Beam reaches over gRPC."""

import contextlib
import os
import socket
import subprocess
import sys
import time

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.environments import ExternalEnvironment

from firth import storage
from firth.corpus import SPLITS, write_outputs
from firth.recipes.corpus.cleaning import Cleaning, Split
from firth.recipes.corpus.duplicates import ExactDuplicatesStep, NearDuplicatesStep
from firth.recipes.corpus.outputs import JsonlOutput, ParquetOutput
from tests.corpus.helpers import clean, document, make_pipeline

CLEANING = Cleaning(
    steps=(
        ExactDuplicatesStep(kind="exact_duplicates"),
        NearDuplicatesStep(kind="near_duplicates", rounds=1),
    ),
    split=Split(eval_fraction=0.3),
)


@contextlib.contextmanager
def worker_pool(log_path):
    """Gives address and id of a process that starts workers when a runner asks for them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "apache_beam.runners.worker.worker_pool_main", f"--service_port={port}"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with open(log_path, "w") as log:
        pool = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        until = time.monotonic() + 120
        while not _answers(port):
            assert pool.poll() is None and time.monotonic() < until, log_path.read_text()
            time.sleep(0.1)
        yield f"localhost:{port}", pool.pid
    finally:
        pool.terminate()
        pool.wait()


def _answers(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def run(folder, pipeline):
    documents = [document(f"The whale number {i % 20} rose from the sea.", f"{i}") for i in range(30)]
    report = clean(folder, documents, CLEANING, pipeline)
    counts = dict.fromkeys(SPLITS, 0)
    for row in report["splits"]:
        counts[row["split"]] += row["documents"]
    patterns = {split: f"{folder}/{split}/*" for split in SPLITS}
    outputs = [ParquetOutput(kind="parquet"), JsonlOutput(kind="jsonl")]
    write_outputs(pipeline, patterns, outputs, f"{folder}/corpus", counts)
    # The datasheet, which has the date, is the component's.
    names = storage.files_below(folder / "corpus")
    return report, {name: (folder / "corpus" / name).read_bytes() for name in names}


def parent_of_workers(folder, pipeline):
    with pipeline() as p:
        _ = p | beam.Create([0]) | beam.Map(lambda _: os.getppid()) | beam.io.WriteToText(f"{folder}/pid")
    (path,) = folder.glob("pid*")
    return int(path.read_text())


@pytest.mark.repeated
def test_a_pool_of_workers_leaves_the_same_bytes_and_counts(tmp_path):
    made = []
    with worker_pool(tmp_path / "pool.log") as (address, pid):

        def make_external():
            made.append(beam.Pipeline(runner=FnApiRunner(ExternalEnvironment(address))))
            return made[-1]

        assert parent_of_workers(tmp_path, make_external) == pid
        external = run(tmp_path / "external", make_external)
    assert len(made) == 3
    assert external == run(tmp_path / "here", make_pipeline)
