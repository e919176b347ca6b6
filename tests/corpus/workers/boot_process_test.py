"""A corpus is cleaned by workers that a job service starts with the command of a PROCESS environment."""

import os
import subprocess
import sys

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.environments import ExternalEnvironment

from tests.corpus.workers.cleaned import parent_of_workers
from tests.corpus.workers.processes import CHECKOUT, boot_script, job_service, worker_pool
from tests.corpus.workers.wheels import write_wheel


def said_by_worker(_):
    import tiny_words

    return f"{tiny_words.WORD}, in {os.environ['FIRTH_TEST_PLACE']}"


def curate(folder, options):
    """Runs the command; returns the bytes of its documents and its report, by their paths."""
    sources = f"sources=[{{kind: text, paths: [{folder.parent}/a.txt], documents: blank_line}}]"
    cleaning = "cleaning={steps: [{kind: exact_duplicates}], split: {eval_fraction: 0.3}}"
    command = [sys.executable, "-m", "firth", "curate", "demo", "--set", sources, "--set", cleaning]
    done = subprocess.run(
        [*command, *(f"--beam-arg={option}" for option in options)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    made = folder / "firth-runs" / "demo" / "pipeline" / "Curator"
    files = [path for path in made.rglob("*") if path.is_file()]
    return {str(path.relative_to(made)): path.read_bytes() for path in files}


@pytest.mark.repeated
def test_processes_make_the_corpus_that_the_command_makes_without_them(tmp_path):
    text = "\n\n".join(f"The whale number {each % 20} rose from the sea." for each in range(30))
    (tmp_path / "a.txt").write_text(text)
    there, here = tmp_path / "there", tmp_path / "here"
    for folder in (there, here):
        folder.mkdir()
    with job_service(tmp_path) as options:
        found = curate(there, options)
    assert sum(name.endswith(".gz") for name in found) >= 2 and found == curate(here, [])


@pytest.mark.repeated
def test_a_process_gets_the_packages_that_are_sent(tmp_path):
    with job_service(tmp_path) as options:
        sent = [*options, f"--extra_package={write_wheel(tmp_path)}"]
        with beam.Pipeline(options=PipelineOptions(sent)) as pipeline:
            said = pipeline | beam.Create([0]) | beam.Map(said_by_worker)
            _ = said | beam.io.WriteToText(f"{tmp_path}/said", shard_name_template="")
    assert (tmp_path / "said").read_text() == "from a package that was sent, in a process of its own\n"


@pytest.mark.repeated
def test_a_pool_starts_workers_by_the_command_of_a_container(tmp_path):
    script = boot_script(tmp_path)
    with worker_pool(tmp_path / "pool.log", f"--container_executable={script}") as (address, pid):
        external = ExternalEnvironment(address)
        assert parent_of_workers(tmp_path, lambda: beam.Pipeline(runner=FnApiRunner(external))) == pid
    assert str(script) in (tmp_path / "pool.log").read_text()
