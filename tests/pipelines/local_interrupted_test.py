"""Runs that a signal, a kill or a full disk cuts short, around pipelines of a line or two."""

import argparse
import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import psutil
import pytest
from ml_metadata.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2

from firth.pipelines import local
from firth.pipelines.leftovers import remove_leftovers
from firth.pipelines.lineage import has_completed, newest_outputs
from firth.pipelines.metadata_repair import remove_dangling_rows
from firth.pipelines.run_errors import full_disk
from firth.recipes import load_recipe

WAITS = """
import pathlib, subprocess, sys, time
from firth.pipelines import local

def wait(*_):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    pathlib.Path("child").write_text(str(child.pid))
    time.sleep(600)

local._run_pipeline = wait
from firth.cli.main import main
sys.argv = ["firth", "run", "bert_tiny"]
main()
"""


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [
        (signal.SIGTERM, 143, "error: terminated; the same"),
        (signal.SIGINT, 130, "error: interrupted; the"),
    ],
)
def test_a_signal_is_answered_with_a_sentence_and_ends_the_children(tmp_path, sent, code, said):
    # Shells start what they run in the background with SIGINT ignored.
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    marker = tmp_path / "child"
    while not (marker.exists() and marker.read_text()) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(sent)
    _, error = process.communicate(timeout=60)
    assert process.returncode == code, error
    assert error.startswith(said)
    assert not psutil.pid_exists(int(marker.read_text()))


def full_database():
    database = sqlite3.connect(":memory:")
    database.execute("PRAGMA max_page_count=2")
    try:
        database.execute("CREATE TABLE t AS SELECT hex(randomblob(20000)) AS x")
    except sqlite3.OperationalError as error:
        return RuntimeError(f"Cannot execute query: INSERT INTO Event: {error}")


@pytest.mark.parametrize("error", [full_database(), OSError(28, os.strerror(28), "/runs/x")], ids=str)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_full_disk_is_told_in_one_sentence(tmp_path, monkeypatch, error, wrapped):
    def fail(*_):
        if wrapped:
            raise ValueError("something else") from error
        raise error

    monkeypatch.setattr(local, "_run_pipeline", fail)
    with pytest.raises(local.RunFailedError) as failed:
        local.run(load_recipe("bert_tiny"), tmp_path)
    place = getattr(error, "filename", None) or tmp_path / "bert_tiny"
    assert failed.value.message.startswith(f"the disk of {place} is full (")
    assert "MB are free at" in failed.value.message and "INSERT" not in failed.value.message
    assert "Traceback" in failed.value.log_path.read_text()


def open_store(path):
    config = metadata_store_pb2.ConnectionConfig()
    config.sqlite.filename_uri = str(path)
    config.sqlite.connection_mode = metadata_store_pb2.SqliteMetadataSourceConfig.READWRITE_OPENCREATE
    return MetadataStore(config)


def test_what_a_killed_component_left_is_removed_and_nothing_else(tmp_path):
    metadata, root = tmp_path / "metadata.sqlite", tmp_path / "pipeline"
    assert remove_leftovers(root, metadata) == []
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
    assert sorted(remove_leftovers(root, metadata)) == sorted(left)
    assert all(folder.exists() for folder in kept) and not any(folder.exists() for folder in left)


HALF_WRITTEN = """
import os, signal, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA cache_size = 1")
database.execute("BEGIN")
database.execute("CREATE TABLE t AS SELECT hex(randomblob(1000000)) AS x")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("has_tables", [True, False])
def test_metadata_that_a_kill_left_half_written_are_read(tmp_path, has_tables):
    path = tmp_path / "metadata.sqlite"
    if has_tables:
        open_store(path).put_execution_type(metadata_store_pb2.ExecutionType(name="Curator"))
    killed = subprocess.run([sys.executable, "-c", HALF_WRITTEN, str(path)])
    journal = path.with_name(f"{path.name}-journal")
    assert killed.returncode == -signal.SIGKILL and journal.stat().st_size
    assert remove_leftovers(tmp_path / "pipeline", path) == []
    assert not has_completed(path, "Curator") and newest_outputs(path) == {}
    assert not journal.exists()


def test_versions_that_a_killed_pusher_did_not_record_are_removed(tmp_path):
    store = open_store(tmp_path / "metadata.sqlite")
    kind = store.put_execution_type(metadata_store_pb2.ExecutionType(name="firth.components.Pusher"))
    model = metadata_store_pb2.ArtifactType(
        name="PushedModel", properties={"pushed_destination": metadata_store_pb2.STRING}
    )
    states = metadata_store_pb2.Execution
    executions = [states(type_id=kind, last_known_state=each) for each in (states.COMPLETE, states.RUNNING)]
    _, killed = store.get_executions_by_id(store.put_executions(executions))
    begun = killed.create_time_since_epoch // 1000
    pushed = metadata_store_pb2.Artifact(type_id=store.put_artifact_type(model))
    pushed.custom_properties["pushed_destination"].string_value = f"/moved/serving/{begun}"
    store.put_artifacts([pushed])
    serving = tmp_path / "serving"
    # Somebody has copied an old version as the newest one.
    rolled_back = str(begun + 3600)
    for name in (str(begun - 9), str(begun), str(begun + 1), rolled_back, ".unfinished", "notes"):
        (serving / name / "variables").mkdir(parents=True)
    removed = remove_leftovers(tmp_path / "pipeline", tmp_path / "metadata.sqlite", serving)
    assert removed == [serving / str(begun + 1), serving / ".unfinished"]
    assert {path.name for path in serving.iterdir()} == {str(begun - 9), str(begun), rolled_back, "notes"}


def test_records_of_executions_that_a_full_disk_undid_are_removed(tmp_path):
    path = tmp_path / "metadata.sqlite"
    store = open_store(path)
    kind = store.put_execution_type(metadata_store_pb2.ExecutionType(name="Trainer"))
    node = store.put_context_type(metadata_store_pb2.ContextType(name="node"))
    execution = metadata_store_pb2.Execution(type_id=kind)
    execution.custom_properties["steps"].int_value = 12
    context = metadata_store_pb2.Context(type_id=node, name="demo.Trainer")
    number, _, (trainer,) = store.put_execution(execution, [], [context])
    del store
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM Execution")
        database.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'Execution'")
    assert remove_dangling_rows(path) == 2 and remove_dangling_rows(path) == 0
    store = open_store(path)
    assert store.put_executions([execution]) == [number]
    assert store.get_executions_by_context(trainer) == []


def test_metadata_that_a_full_disk_left_empty_are_none(tmp_path):
    path = tmp_path / "metadata.sqlite"
    path.touch()
    assert remove_leftovers(tmp_path / "pipeline", path) == []
    assert not has_completed(path, "Curator") and newest_outputs(path) == {}


@pytest.mark.parametrize(("free", "said"), [(4096, True), (10**9, False)])
def test_a_transaction_that_was_undone_for_want_of_room(tmp_path, monkeypatch, free, said):
    error = RuntimeError(
        "Error when executing query: cannot commit - no transaction is active query: COMMIT;"
    )
    monkeypatch.setattr(shutil, "disk_usage", lambda _: argparse.Namespace(free=free))
    assert bool(full_disk(error, tmp_path)) is said
