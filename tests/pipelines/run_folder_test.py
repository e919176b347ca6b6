"""The folder of a run, around a pipeline that does nothing."""

import os
import pathlib

import pytest
from ml_metadata.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2

from firth.pipelines import local
from firth.pipelines.events import Timings
from firth.pipelines.run_errors import RunFolderError
from firth.pipelines.run_folder import PREVIOUS_FILE, READERS, RECIPE_FILE, SCHEMA_FILE
from firth.pipelines.run_metadata import METADATA_FILE
from firth.recipes import load_recipe

COMPLETE, FAILED = metadata_store_pb2.Execution.COMPLETE, metadata_store_pb2.Execution.FAILED


def read_sources(run_dir, state=COMPLETE):
    """Records an execution of the component that reads sources, as TFX does."""
    config = metadata_store_pb2.ConnectionConfig()
    config.sqlite.filename_uri = str(run_dir / METADATA_FILE)
    config.sqlite.connection_mode = metadata_store_pb2.SqliteMetadataSourceConfig.READWRITE_OPENCREATE
    store = MetadataStore(config)
    kind = store.put_execution_type(metadata_store_pb2.ExecutionType(name=READERS[0]))
    node = store.put_context_type(metadata_store_pb2.ContextType(name="node"))
    execution = metadata_store_pb2.Execution(type_id=kind, last_known_state=state)
    context = metadata_store_pb2.Context(type_id=node, name=f"bert_tiny.{READERS[0]}")
    store.put_execution(execution, [], [context], reuse_context_if_already_exist=True)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a recipe's first component only: `run("bert_tiny", "seed=1", name="x")`."""
    monkeypatch.setattr(local, "_run_pipeline", lambda job, *_: read_sources(job.run_dir))
    monkeypatch.setattr(local, "collect_run", lambda run_dir, *_: run_dir)

    def call(recipe, *options, **others):
        return local.run(load_recipe(recipe, options), tmp_path / "runs", local.RunOptions(**others))

    return call


def texts(*paths):
    return (
        "sources=[" + ", ".join(f"{{kind: text, paths: [{path}], name: s{path[1]}}}" for path in paths) + "]"
    )


@pytest.mark.parametrize(
    "name", ["../../evil", "a/b", "", ".", "..", "/tmp/evil", "a b", "-x", "a\n", "\u00e9", "x" * 101]
)
def test_a_name_is_one_folder_below_the_root(run, tmp_path, name):
    with pytest.raises(RunFolderError, match="run's name"):
        run("bert_tiny", name=name)
    assert list(tmp_path.rglob("*")) == []


def test_a_root_that_is_not_to_be_written_in(run, monkeypatch):
    # As root everything can be written in.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(RunFolderError, match=r"runs .*: permission denied"):
        run("bert_tiny")


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


def test_a_folder_in_which_reading_failed_takes_other_sources(run, monkeypatch):
    def fail(job, *_):
        read_sources(job.run_dir, FAILED)
        raise ValueError("empty.txt has no document")

    with monkeypatch.context() as failing:
        failing.setattr(local, "_run_pipeline", fail)
        with pytest.raises(local.RunFailedError):
            run("bert_tiny", texts("/a"))
    run("bert_tiny", texts("/b"))
    with pytest.raises(RunFolderError, match="no longer read: text /b"):
        run("bert_tiny", texts("/a"))


def test_the_schema_of_a_folder_is_for_the_same_sources(run):
    folder = run("bert_tiny", texts("/a"))
    schema, previous = folder / SCHEMA_FILE, folder / PREVIOUS_FILE
    schema.write_text("of /a")
    run("bert_tiny", texts("/a"), "training.steps=7")
    run("bert_tiny", texts("/b"), f"source_schema={schema}", reuse_folder=True)
    assert schema.read_text() == "of /a"
    run("bert_tiny", texts("/c"), reuse_folder=True)
    assert previous.read_text() == "of /a" and not schema.exists()
    schema.write_text("of /c")
    run("bert_tiny", texts("/c"), "sources.0.name=books")
    assert previous.read_text() == "of /c" and not schema.exists()


@pytest.mark.parametrize("content", [b"[]", b"3", b"\xff", b"{"])
def test_a_summary_that_is_no_object_is_written_over(run, content):
    folder = run("bert_tiny", texts("/a"))
    for name in ("run.json", "timings.json"):
        (folder / name).write_bytes(content)
    assert run("bert_tiny", texts("/a")) == folder
    assert Timings(folder / "timings.json").components == {}
    (folder / "timings.json").write_text('{"Trainer": 3, "Evaluator": {"state": "failed"}}')
    assert Timings(folder / "timings.json").components == {"Evaluator": {"state": "failed"}}


def test_packages_are_sources_too(run):
    run("bert_tiny", "sources=[{kind: docstrings, packages: [yaml]}]")
    with pytest.raises(RunFolderError, match="not read before: docstrings typer"):
        run("bert_tiny", "sources=[{kind: docstrings, packages: [yaml, typer]}]")


def test_another_recipe_is_refused(run):
    run("bert_tiny", name="first")
    with pytest.raises(RunFolderError, match=r"'bert_tiny', .*'gpt2_tiny'"):
        run("gpt2_tiny", name="first")


def test_a_folder_whose_recipe_cannot_be_read_is_refused(run, tmp_path):
    path = tmp_path / "runs" / "bert_tiny" / RECIPE_FILE
    path.parent.mkdir(parents=True)
    read_sources(path.parent)
    for text in ("", "name: bert_tiny", "name: [", "{name: a, sources: [{kind: tex}]}"):
        path.write_text(text)
        with pytest.raises(RunFolderError, match="cannot be read"):
            run("bert_tiny")
    assert run("bert_tiny", reuse_folder=True) == pathlib.Path(path.parent).resolve()
