"""A corpus is cleaned and written by workers of a pool of their own, which Beam reaches over gRPC."""

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.environments import ExternalEnvironment

from tests.corpus.helpers import make_pipeline
from tests.corpus.workers.cleaned import parent_of_workers, run
from tests.corpus.workers.processes import worker_pool


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
