"""Where a run's metadata are, and what is read of a store that two pipelines share."""

import pytest
from ml_metadata.proto import metadata_store_pb2

from firth.pipelines.lineage import executions_of, has_completed, newest_outputs
from firth.pipelines.run_errors import RunFolderError
from firth.pipelines.run_metadata import METADATA_FILE, RunMetadata, keep_metadata_in, metadata_of
from tests.pipelines.sqlite_stores import open_store


def folder(tmp_path, name):
    made = tmp_path / name
    made.mkdir()
    return made


def test_without_a_place_it_is_a_file_of_the_folder(tmp_path):
    keep_metadata_in(tmp_path, "")
    assert metadata_of(tmp_path) == RunMetadata(f"{tmp_path}/{METADATA_FILE}")


def test_two_folders_share_a_file_under_names_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = folder(tmp_path, "v1.2"), folder(tmp_path, "other")
    for each in (first, second):
        keep_metadata_in(each, "all.sqlite")
    assert metadata_of(first).place == metadata_of(second).place == f"{tmp_path}/all.sqlite"
    assert metadata_of(first).pipeline.startswith("v1.2-")
    assert metadata_of(first).pipeline != metadata_of(second).pipeline
    before = metadata_of(first)
    # A folder that was moved is still the same pipeline.
    first.rename(tmp_path / "moved")
    keep_metadata_in(tmp_path / "moved", "all.sqlite")
    keep_metadata_in(tmp_path / "moved", "")
    assert metadata_of(tmp_path / "moved") == before


def test_a_folder_keeps_its_store(tmp_path):
    run = folder(tmp_path, "run")
    keep_metadata_in(run, f"{tmp_path}/all.sqlite")
    with pytest.raises(RunFolderError, match=r"all\.sqlite, .*other\.sqlite"):
        keep_metadata_in(run, f"{tmp_path}/other.sqlite")
    own = folder(tmp_path, "own")
    open_store(own / METADATA_FILE)
    with pytest.raises(RunFolderError, match=r"own/metadata\.sqlite, .*all\.sqlite"):
        keep_metadata_in(own, f"{tmp_path}/all.sqlite")


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("postgresql://me:secret@there/runs", "set FIRTH_METADATA_PASSWORD"),
        ("postgres://me@there/runs", "metadata: postgres is not a database .* did you mean postgresql?"),
        ("mysql://there/runs", "metadata: there is no user in the URL"),
        (
            "mysql://me@there:port/runs",
            "metadata: host or port of the URL cannot be read; write it as mysql:",
        ),
        ("mysql://me:a/secret@there/runs", "metadata: host or port of the URL cannot be read"),
        ("postgresql://me@[::1/runs", "metadata: host or port of the URL cannot be read"),
        ("/no/such/folder/runs.sqlite", "metadata: there is no folder /no/such/folder"),
        ("postgresql://me@127.0.0.1:1/runs", "metadata: postgresql://me@127.0.0.1:1/runs does not answer: "),
        ("mysql://me@127.0.0.1:1/runs", "mysql://me@127.0.0.1:1/runs does not answer: "),
    ],
)
def test_a_place_that_cannot_be_used_is_refused(tmp_path, monkeypatch, place, problem):
    monkeypatch.setenv("FIRTH_METADATA_PASSWORD", "a secret")
    with pytest.raises(RunFolderError, match=problem) as error:
        keep_metadata_in(tmp_path, place)
    assert "secret" not in str(error.value) and metadata_of(tmp_path).pipeline == ""


def test_a_pipeline_sees_its_own_executions_alone(tmp_path):
    place = tmp_path / "all.sqlite"
    store = open_store(place)
    kind = store.put_execution_type(metadata_store_pb2.ExecutionType(name="Curator"))
    made = store.put_artifact_type(metadata_store_pb2.ArtifactType(name="Documents"))
    contexts = {
        name: store.put_context_type(metadata_store_pb2.ContextType(name=name))
        for name in ("node", "pipeline", "pipeline_run")
    }

    def run(pipeline):
        execution = metadata_store_pb2.Execution(
            type_id=kind, last_known_state=metadata_store_pb2.Execution.COMPLETE
        )
        names = {"node": f"{pipeline}.Curator", "pipeline": pipeline, "pipeline_run": f"{pipeline}_1"}
        output = metadata_store_pb2.Event(type=metadata_store_pb2.Event.OUTPUT)
        output.path.steps.add().key = "examples"
        artifact = metadata_store_pb2.Artifact(type_id=made, uri=f"/{pipeline}")
        given = [
            metadata_store_pb2.Context(type_id=contexts[each], name=name) for each, name in names.items()
        ]
        return store.put_execution(
            execution, [(artifact, output)], given, reuse_context_if_already_exist=True
        )[0]

    first, _ = run("a"), run("b")
    of_a, of_none = (RunMetadata(str(place), pipeline) for pipeline in ("a", "c"))
    assert str(newest_outputs(of_a)["Curator"]["examples"]) == "/a"
    assert [each.id for each in executions_of(store, "a")] == [first]
    assert has_completed(of_a, "Curator") and not has_completed(of_none, "Curator")
    assert newest_outputs(of_none) == {} and executions_of(store, "c") == []
