import json
import shutil

import pytest
from typer.testing import CliRunner

from firth.cli.main import app
from firth.recipes import load_recipe, recipe_to_yaml
from tests.interop.hugging_face.checkpoints import checkpoint

METRICS = {"mlm_perplexity": 120.5, "unigram_perplexity": 840.2, "perplexity_over_unigram": 0.1434}


@pytest.fixture
def firth(tmp_path, monkeypatch):
    """Runs the command in an empty folder: `firth("show", "demo")`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FIRTH_ROOT", raising=False)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


@pytest.fixture(scope="session")
def imported_once(tmp_path_factory):
    """A folder into which a model was imported as `tiny`, and what the command said."""
    folder = tmp_path_factory.mktemp("imported")
    (folder / "published").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "200")
        patch.delenv("FIRTH_ROOT", raising=False)
        path = checkpoint(folder / "published")
        return folder, CliRunner().invoke(app, ["import", "hf", path, "--name", "tiny"])


@pytest.fixture
def imported(firth, tmp_path, imported_once):
    """The imported model `tiny` in the folder of the command; returns what its import said."""
    folder, result = imported_once
    assert result.exit_code == 0, result.output
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return result


@pytest.fixture
def make_run(tmp_path):
    """Writes a run's folder as the runner leaves it."""

    def make(
        name="first", root=tmp_path / "firth-runs", summary=None, timings=None, report=True, overrides=()
    ):
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "recipe.yaml").write_text(recipe_to_yaml(load_recipe("demo", overrides)))
        if timings is not None:
            (folder / "timings.json").write_text(json.dumps(timings))
        if summary is not None:
            (folder / "run.json").write_text(json.dumps(summary))
        if report:
            (folder / "report.html").write_text("<!DOCTYPE html>")
        return folder

    return make
