import functools
import json
import shutil
from unittest import mock

import pytest
import tensorflow as tf
from typer.testing import CliRunner

from firth.cli.main import app
from firth.cli.run import matrix_speed
from tests.cli.imported_model import PRINTED, imported_model
from tests.recipes.bundles import recipe_text

METRICS = {"mlm_perplexity": 120.5, "unigram_perplexity": 840.2, "perplexity_over_unigram": 0.1434}


@pytest.fixture(scope="package", autouse=True)
def _speed_measured_once():
    """Measures the machine's speed once for all commands that compare a training with it."""
    with mock.patch("firth.cli.run.matrix_speed", functools.cache(matrix_speed)):
        yield


@pytest.fixture
def firth(tmp_path, monkeypatch):
    """Runs the command in an empty folder: `firth("show", "demo")`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FIRTH_ROOT", raising=False)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


@pytest.fixture
def eager():
    """Runs steps without tracing graphs, where it is not they that a test is about."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.fixture
def imported(firth, tmp_path, made_once):
    """The imported model `tiny` in the folder of the command; returns the output of its import."""
    shutil.copytree(imported_model(made_once), tmp_path, dirs_exist_ok=True)
    return (tmp_path / PRINTED).read_text()


@pytest.fixture
def make_run(tmp_path):
    """Writes a run's folder as the runner leaves it."""

    def make(
        name="first", root=tmp_path / "firth-runs", summary=None, timings=None, report=True, overrides=()
    ):
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "recipe.yaml").write_text(recipe_text("demo", *overrides))
        if timings is not None:
            (folder / "timings.json").write_text(json.dumps(timings))
        if summary is not None:
            (folder / "run.json").write_text(json.dumps(summary))
        if report:
            (folder / "report.html").write_text("<!DOCTYPE html>")
        return folder

    return make
