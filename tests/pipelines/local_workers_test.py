"""Whole runs by the command, whose components run on Beam in worker processes that others have started."""

import json
import os
import subprocess
import sys

import pytest

from firth.models import save_model
from firth.tokenizers import save_tokenizer
from tests.corpus.workers.processes import CHECKOUT, boot_script, job_service, worker_pool
from tests.exported_model import RECIPE, make_served
from tests.pipelines.bucket_server import OVERRIDES

pytestmark = pytest.mark.repeated
# What rows, weights and losses follow from.
COMPARED = ("Curator", "SequenceGen", "TaskRowGen")


def firth(folder, *arguments):
    """Runs the command in a folder; returns the bytes of its data, by their paths, and the run's summary."""
    done = subprocess.run(
        [sys.executable, "-m", "firth", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    (run,) = [path.parent for path in folder.glob("firth-runs/*/run.json")]
    made = {
        str(path.relative_to(run)): path.read_bytes()
        for name in COMPARED
        for path in (run / "pipeline" / name).rglob("*")
        if path.is_file()
    }
    return made, json.loads((run / "run.json").read_text())


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A pre-training without workers."""
    return pretrain(tmp_path_factory.mktemp("alone"))


def pretrain(folder, *options):
    return firth(folder, "run", "demo", *(f"--set={each}" for each in OVERRIDES), *options)


def assert_same(found, expected):
    """Expects the same data, byte for byte, and the same evaluation."""
    made, summary = found
    assert sum(name.endswith(".gz") for name in made) >= 4
    assert made == expected[0]
    overall = expected[1]["evaluation"]["overall"]
    assert summary["evaluation"]["overall"] == pytest.approx(overall, rel=1e-5)


def test_pretraining_with_processes_of_beam(alone, tmp_path):
    assert_same(pretrain(tmp_path, "--workers", "2"), alone)


def test_pretraining_with_processes_that_a_job_service_starts(alone, tmp_path):
    (tmp_path / "run").mkdir()
    with job_service(tmp_path) as options:
        found = pretrain(tmp_path / "run", *(f"--beam-arg={each}" for each in options))
    assert_same(found, alone)


def test_finetuning_with_a_pool_of_workers(tmp_path):
    served = make_served(RECIPE)
    save_tokenizer(served.tokenizer, tmp_path / "tokenizer")
    save_model(served.model, RECIPE, tmp_path / "tokenizer", tmp_path / "bundle")
    rows = [f"the word sat on number {each},{('no', 'yes')[each % 2]}" for each in range(60)]
    (tmp_path / "texts.csv").write_text("\n".join(["text,label", *rows]))

    def finetune(name, *options):
        (tmp_path / name).mkdir()
        given = ["--task", "classification", "--train", "../texts.csv", "--set=sequences.length=32"]
        given.append("--set=evaluation.beats_constant=false")
        return firth(tmp_path / name, "finetune", "../bundle", *given, "--epochs", "1", *options)

    expected = finetune("alone")
    script = boot_script(tmp_path)
    with worker_pool(tmp_path / "pool.log", f"--container_executable={script}") as (address, _):
        options = ["--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=EXTERNAL"]
        options.append(f"--environment_config={address}")
        found = finetune("pool", *(f"--beam-arg={each}" for each in options))
    assert_same(found, expected)
    assert str(script) in (tmp_path / "pool.log").read_text()
