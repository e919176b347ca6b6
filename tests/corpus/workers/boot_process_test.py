"""A corpus is cleaned by workers that a job service starts with the command of a PROCESS environment."""

import importlib
import os
import subprocess
import sys

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from tests.corpus.workers.processes import CHECKOUT, job_service
from tests.corpus.workers.wheels import write_setup_file, write_wheel


def said_by_worker(name):
    return f"{name}: {importlib.import_module(name).WORD}, in {os.environ['FIRTH_TEST_PLACE']}"


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
def test_a_process_gets_the_packages_that_are_sent(tmp_path, monkeypatch):
    """One that is there as a wheel, one as sources, and one that pip finds by a list of requirements."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    write_wheel(shelf, "tiny_listed")
    (tmp_path / "mine.txt").write_text("tiny_listed==1.0\n")
    sent = [
        f"--extra_package={write_wheel(tmp_path)}",
        f"--setup_file={write_setup_file(tmp_path / 'sources', 'tiny_sources')}",
        f"--requirements_file={tmp_path}/mine.txt",
        f"--requirements_cache={tmp_path}/cache",
    ]
    # Neither pip here nor the workers' reach anything but what is on this machine; 0 says: no isolation.
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    # Beam's pip finds the requirement where the command is given, and the workers' has what Beam sends alone.
    for variable, value in {**offline, "PIP_FIND_LINKS": str(shelf)}.items():
        monkeypatch.setenv(variable, value)
    place = "a process of its own"
    variables = {"FIRTH_TEST_PLACE": place, "PIP_FIND_LINKS": "", **offline}
    names = ["tiny_listed", "tiny_sources", "tiny_words"]
    with job_service(tmp_path, **variables) as options:
        sent = PipelineOptions([*options, *sent])
        with beam.Pipeline(options=sent) as pipeline:
            said = pipeline | beam.Create(names) | beam.Map(said_by_worker)
            _ = said | beam.io.WriteToText(f"{tmp_path}/said", shard_name_template="")
    assert sorted((tmp_path / "said").read_text().splitlines()) == [
        f"tiny_listed: from a package that was sent, in {place}",
        f"tiny_sources: from sources that were sent, in {place}",
        f"tiny_words: from a package that was sent, in {place}",
    ]
