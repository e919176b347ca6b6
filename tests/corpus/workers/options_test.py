"""The plugin that Beam's harness of a worker imports, by Beam's own code that starts it."""

import importlib.util
import json
import subprocess
import sys

import pytest

from firth.corpus.workers.options import options_for
from tests.corpus.workers.processes import CHECKOUT
from tests.pipelines.bucket_server import WITHOUT

START = """
import sys
import tensorflow as tf
from apache_beam.runners.worker.sdk_worker_main import create_harness

assert "s3" not in tf.io.gfile.get_registered_schemes()
create_harness({"PIPELINE_OPTIONS": sys.argv[1], "CONTROL_API_SERVICE_DESCRIPTOR": ""}, dry_run=True)
print("s3" in tf.io.gfile.get_registered_schemes())
"""


@pytest.mark.repeated
def test_the_harness_of_a_worker_registers_s3_where_artifacts_are_there():
    if importlib.util.find_spec("tensorflow_io") is None:
        pytest.skip(WITHOUT)
    from apache_beam.options.pipeline_options import PipelineOptions

    options = PipelineOptions(options_for("s3://bucket/run", ["--runner=FlinkRunner"])).get_all_options(
        drop_default=True
    )
    done = subprocess.run(
        [sys.executable, "-c", START, json.dumps(options)], cwd=CHECKOUT, capture_output=True, text=True
    )
    assert done.stdout.split() == ["True"], done.stderr[-2000:]
