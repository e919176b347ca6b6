"""The folder of a run, around a pipeline that does nothing."""

import os
import pathlib

import pytest

from firth.pipelines import local
from firth.pipelines.run_errors import RunFolderError
from firth.pipelines.run_folder import RECIPE_FILE
from firth.recipes import load_recipe


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a recipe without its pipeline: `run("bert_tiny", "seed=1", name="x")`."""
    monkeypatch.setattr(local, "_run_pipeline", lambda *_: None)
    monkeypatch.setattr(local, "collect_run", lambda run_dir, *_: run_dir)

    def call(recipe, *options, **others):
        return local.run(load_recipe(recipe, options), tmp_path / "runs", **others)

    return call


def texts(*paths):
    return (
        "sources=[" + ", ".join(f"{{kind: text, paths: [{path}], name: s{path[1]}}}" for path in paths) + "]"
    )


@pytest.mark.parametrize(
    "name", ["../../evil", "a/b", "", ".", "..", "/tmp/evil", "a b", "-x", "a\n", "\u00e9", "x" * 101]
)
def test_a_name_is_one_folder_below_the_root(run, tmp_path, name):
    with pytest.raises(RunFolderError, match="is not a run's name"):
        run("bert_tiny", name=name)
    assert list(tmp_path.rglob("*")) == []


def test_the_same_recipe_goes_on_in_its_folder_and_so_does_a_changed_key(run):
    assert run("bert_tiny", texts("/a")) == run("bert_tiny", texts("/a"))
    events = []
    options = texts("/a"), "training.steps=7", "sources.0.licence=CC0"
    folder = run("bert_tiny", *options, on_event=events.append)
    assert load_recipe(folder / RECIPE_FILE).training.steps == 7
    assert events[0]["lines"] == [
        "sources.0.licence: CC0, in this folder's last run unknown",
        "training.steps: 7, in this folder's last run 600",
    ]


def test_the_recipes_file_keeps_its_time_until_the_recipe_changes(run):
    path = run("bert_tiny", texts("/a")) / RECIPE_FILE
    os.utime(path, (1, 1))
    run("bert_tiny", texts("/a"))
    assert path.stat().st_mtime == 1
    run("bert_tiny", texts("/a"), "training.steps=7")
    assert path.stat().st_mtime > 1


def test_other_sources_are_refused_with_what_differs(run):
    folder = run("bert_tiny", texts("/a", "/b"))
    before = (folder / RECIPE_FILE).read_text()
    with pytest.raises(RunFolderError) as refused:
        run("bert_tiny", texts("/b", "/c"))
    assert "no longer read: text /a\n  not read before: text /c\n" in str(refused.value)
    assert "--name of its own" in str(refused.value) and "--reuse-folder" in str(refused.value)
    assert (folder / RECIPE_FILE).read_text() == before
    assert run("bert_tiny", texts("/b", "/c"), name="other") != folder
    assert run("bert_tiny", texts("/b", "/c"), reuse_folder=True) == folder
    assert run("bert_tiny", texts("/c", "/b")) == folder


def test_packages_are_sources_too(run):
    run("bert_tiny", "sources=[{kind: docstrings, packages: [yaml]}]")
    with pytest.raises(RunFolderError, match="not read before: docstrings typer"):
        run("bert_tiny", "sources=[{kind: docstrings, packages: [yaml, typer]}]")


def test_another_recipe_is_refused(run):
    run("bert_tiny", name="first")
    with pytest.raises(RunFolderError, match="its recipe was 'bert_tiny', and this one is 'gpt2_tiny'"):
        run("gpt2_tiny", name="first")


def test_a_folder_whose_recipe_cannot_be_read_is_refused(run, tmp_path):
    path = tmp_path / "runs" / "bert_tiny" / RECIPE_FILE
    path.parent.mkdir(parents=True)
    for text in ("", "name: bert_tiny", "name: [", "{name: a, sources: [{kind: tex}]}"):
        path.write_text(text)
        with pytest.raises(RunFolderError, match="cannot be read"):
            run("bert_tiny")
    assert run("bert_tiny", reuse_folder=True) == pathlib.Path(path.parent).resolve()
