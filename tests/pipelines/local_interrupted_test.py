"""Runs that a signal, a kill or a full disk cuts short, around pipelines of a line or two."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import psutil
import pytest

from firth.pipelines import local
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
