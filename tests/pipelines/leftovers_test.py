from ml_metadata.proto import metadata_store_pb2

from firth.pipelines.leftovers import remove_leftovers
from firth.pipelines.run_metadata import RunMetadata
from tests.pipelines.sqlite_stores import open_store


def test_what_a_killed_component_left_is_removed_and_nothing_else(tmp_path):
    metadata, root = tmp_path / "metadata.sqlite", tmp_path / "pipeline"
    assert remove_leftovers(root, RunMetadata(str(metadata))) == []
    store = open_store(metadata)
    kind = store.put_execution_type(metadata_store_pb2.ExecutionType(name="Curator"))
    states = metadata_store_pb2.Execution.State
    wanted = (states.COMPLETE, states.RUNNING, states.CACHED, states.FAILED)
    executions = [metadata_store_pb2.Execution(type_id=kind, last_known_state=state) for state in wanted]
    whole, killed, cached, failed = store.put_executions(executions)
    kept = [root / f"Curator/examples/{whole}", root / f"Curator/report/{cached}"]
    left = [
        root / f"Curator/examples/{killed}",
        root / f"TokenizerGen/tokenizer/.{killed}.abc",
        root / f"Curator/.system/executor_execution/{failed}",
    ]
    for folder in (*kept, *left):
        (folder / "Split-train").mkdir(parents=True)
    assert sorted(remove_leftovers(root, RunMetadata(str(metadata)))) == sorted(left)
    assert all(folder.exists() for folder in kept) and not any(folder.exists() for folder in left)


def test_versions_that_a_killed_pusher_did_not_record_are_removed(tmp_path):
    store = open_store(tmp_path / "metadata.sqlite")
    kind = store.put_execution_type(metadata_store_pb2.ExecutionType(name="firth.components.Pusher"))
    states = metadata_store_pb2.Execution
    executions = [
        states(type_id=kind, last_known_state=each)
        for each in (states.COMPLETE, states.RUNNING, states.FAILED, states.RUNNING)
    ]
    whole, killed, early, broken = store.put_executions(executions)
    root, serving = tmp_path / "pipeline", tmp_path / "serving"
    for execution, said in ((whole, '{"version": "7"}'), (killed, '{"version": "8"}'), (broken, "{")):
        folder = root / "Pusher" / "pushed_model" / str(execution)
        folder.mkdir(parents=True)
        (folder / "pushed_version.json").write_text(said)
    (root / "Pusher" / "pushed_model" / str(early)).mkdir()
    # Somebody has copied an old version as the newest one.
    for name in ("6", "7", "8", "99", ".unfinished", "notes"):
        (serving / name / "variables").mkdir(parents=True)
    removed = remove_leftovers(root, RunMetadata(str(tmp_path / "metadata.sqlite")), serving)
    assert removed[-2:] == [serving / "8", serving / ".unfinished"]
    assert {path.name for path in serving.iterdir()} == {"6", "7", "99", "notes"}
    assert [path.name for path in (root / "Pusher" / "pushed_model").iterdir()] == [str(whole)]
