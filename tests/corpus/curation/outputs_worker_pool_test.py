"""A corpus is cleaned and written by workers of a pool of their own, which Beam reaches over gRPC."""

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.environments import ExternalEnvironment

from tests.corpus.helpers import make_pipeline
from tests.corpus.workers.cleaned import parent_of_workers, run
from tests.corpus.workers.processes import boot_script, worker_pool


@pytest.mark.repeated
def test_a_pool_that_starts_workers_by_a_containers_command_leaves_the_same_bytes_and_counts(tmp_path):
    made, script = [], boot_script(tmp_path)
    with worker_pool(tmp_path / "pool.log", f"--container_executable={script}") as (address, pid):

        def make_external():
            made.append(beam.Pipeline(runner=FnApiRunner(ExternalEnvironment(address))))
            return made[-1]

        assert parent_of_workers(tmp_path, make_external) == pid
        external = run(tmp_path / "external", make_external)
    assert len(made) == 3
    assert str(script) in (tmp_path / "pool.log").read_text()
    assert external == run(tmp_path / "here", make_pipeline)
