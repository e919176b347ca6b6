"""A run whose disk fills up, and whose components are killed one by one, ends as one without a fault."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from firth.pipelines.leftovers import remove_dangling_rows
from firth.recipes.reading.loading import recipe_to_yaml
from firth.serving.client import Client
from firth.serving.exported_model import newest_model
from tests.pipelines import faulty_runs
from tests.pipelines.pretrain_test import losses, tiny

# Kinds of fault, components, and bytes that are left on the disk. ML Metadata alone needs some.
FULL = [
    ("full", "", 0),
    ("full", "CorpusExampleGen", 0),
    ("full", "CorpusExampleGen", 81_920),
    ("full", "Curator", 65_536),
    ("full", "SequenceGen", 131_072),
    ("full", "Trainer", 65_536),
    ("full", "Trainer", 262_144),
    ("full", "Evaluator", 65_536),
    ("full", "Pusher", 1_048_576),
    ("full", "Reporter", 65_536),
]
KILLED = [
    "CorpusExampleGen",
    "StatisticsGen",
    "SchemaGen",
    "ExampleValidator",
    "AnomalyValidator",
    "Curator",
    "CorpusReporter",
    "CorpusValidator",
    "TokenizerGen",
    "SequenceGen",
    "ObjectiveValidator",
    "Trainer",
    "ServingValidator",
    "Evaluator",
    "Pusher",
    "Reporter",
]
FULL_DISK = re.compile(r"\nerror: .*the disk of \S+ is full \(\d\.\d MB are free at \S+\); make room, and")
SQL = re.compile(r"query:|INSERT|UPDATE|SELECT|COMMIT|CREATE TABLE|Traceback|Errno")


def faults():
    """Those of a component together, in the pipeline's order, so that a run comes as far as each."""
    by_component = [[each for each in FULL if each[1] == name] + [("killed", name)] for name in KILLED]
    return [FULL[0], *(fault for each in by_component for fault in each)]


def namespace() -> list[str]:
    """Returns the words that give a command a mount namespace of its own."""
    for words in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]):
        mounts = [*words, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        if shutil.which("unshare") and subprocess.run(mounts, capture_output=True).returncode == 0:
            return words
    pytest.skip("a disk of its own needs root, or user namespaces, to be mounted")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module")
def attempts(place):
    recipe = place / "demo.yaml"
    recipe.write_text(recipe_to_yaml(tiny()))
    command = [*namespace(), sys.executable, faulty_runs.__file__, place, recipe, json.dumps(faults())]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[-4000:]
    return [faulty_runs.Attempt(**each) for each in json.loads(process.stdout.splitlines()[-1])]


def files(folder: pathlib.Path) -> set[str]:
    """Returns the files below a folder, logs left out, without the numbers of executions and versions."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {re.sub(r"\d+", "#", str(path)) for path in found if path.parts[0] != "logs"}


def weights(folder: pathlib.Path) -> bytes:
    (path,) = folder.glob(f"checkpoints/*/step-*{tiny().training.steps}/variables.data*")
    return path.read_bytes()


@pytest.mark.repeated
def test_each_fault_is_told_and_the_run_goes_on_to_the_same_model(attempts, place):
    whole, *faulty, last = attempts
    assert (whole.code, last.code) == (0, 0), last.output
    for (kind, component, *_), attempt in zip(faults(), faulty, strict=True):
        assert f"done   {component}" not in attempt.output, attempt
        if kind == "killed":
            assert attempt.code == -9, attempt
        else:
            assert attempt.code == 1 and "Traceback" not in attempt.output, attempt
            assert FULL_DISK.search(attempt.output), attempt
            assert not SQL.search(attempt.output), attempt
    folders = place / "whole", place / "faulty"
    assert files(folders[0]) == files(folders[1])
    assert weights(folders[0]) == weights(folders[1])
    assert losses(folders[0]) == losses(folders[1])
    assert all(len(list((folder / "serving").iterdir())) == 1 for folder in folders)
    text = ["Return the [MASK] of the message."]
    first, second = (Client(newest_model(str(folder / "serving"))).fill_mask(text) for folder in folders)
    assert first == second
    assert remove_dangling_rows(folders[1] / "metadata.sqlite") == 0
