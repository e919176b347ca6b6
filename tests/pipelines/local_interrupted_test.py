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


def started(folder, program):
    """The process of a program, once its child is there."""
    # Shells start what they run in the background with SIGINT ignored.
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    marker = folder / "child"
    while not (marker.exists() and marker.read_text()) and process.poll() is None:
        time.sleep(0.05)
    return process


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [
        (signal.SIGTERM, 143, "error: terminated; the same"),
        # The next test sends it too.
        pytest.param(signal.SIGINT, 130, "error: interrupted; the", marks=pytest.mark.repeated),
    ],
)
def test_a_signal_is_answered_with_a_sentence_and_ends_the_children(tmp_path, sent, code, said):
    process, marker = started(tmp_path, WAITS), tmp_path / "child"
    process.send_signal(sent)
    said_so_far, error = process.communicate(timeout=60)
    assert process.returncode == code, error
    assert error.startswith(said)
    assert "stopping: " in said_so_far
    assert not psutil.pid_exists(int(marker.read_text()))


def test_ctrl_c_is_answered_while_no_python_runs_and_the_second_ends_at_once(tmp_path):
    # Like code of C++, it gives Python's lock back, and does not look for signals.
    busy = "import hashlib; hashlib.pbkdf2_hmac('sha256', b'a', b'b', 2**31 - 1)"
    process = started(tmp_path, WAITS.replace("    time.sleep(600)\n\nlocal", f"    {busy}\n\nlocal"))
    process.send_signal(signal.SIGINT)
    lines = iter(process.stdout.readline, "")
    assert any(line.startswith("stopping: ") for line in lines) and process.poll() is None
    time.sleep(0.6)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130
    assert not psutil.pid_exists(int((tmp_path / "child").read_text()))
    process.communicate()


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
