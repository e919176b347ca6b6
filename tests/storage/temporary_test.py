"""Temporary files go with their process, or with the next one if it is killed."""

import os
import signal
import subprocess
import sys

LEAVES = """
import os, signal, subprocess, sys, tempfile
from firth import storage
storage.keep_temporary_files()
storage.keep_temporary_files()
made = [tempfile.mkdtemp("beam"), tempfile.mkstemp("__autograph_generated_file.py")[1]]
subprocess.run(["mktemp"], check=True, stdout=subprocess.DEVNULL)
print(len({os.path.dirname(each) for each in made}), len(os.listdir(tempfile.gettempdir())))
print(storage.lasting_temporary_folder(), flush=True)
"""


def run(folder, more=""):
    environment = {**os.environ, "TMPDIR": str(folder)}
    environment.pop("FIRTH_LASTING_TMPDIR", None)
    done = subprocess.run(
        [sys.executable, "-c", LEAVES + more], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert done.stdout.split() == ["1", "3", str(folder)]
    return done.returncode


def test_nothing_is_left_of_processes_that_end_and_of_those_that_were_killed(tmp_path):
    assert run(tmp_path) == 0 and os.listdir(tmp_path) == []
    assert run(tmp_path, "raise SystemExit(3)") == 3 and os.listdir(tmp_path) == []
    assert run(tmp_path, "storage.remove_temporary_files(); os._exit(130)") == 130
    assert os.listdir(tmp_path) == []
    kill = "os.kill(os.getpid(), signal.SIGKILL)"
    assert run(tmp_path, kill) == -signal.SIGKILL and len(os.listdir(tmp_path)) == 1
    assert run(tmp_path) == 0 and os.listdir(tmp_path) == []


def test_the_folder_of_a_process_that_lives_stays(tmp_path):
    code = f"{LEAVES}sys.stdin.read(); print(len(os.listdir(tempfile.gettempdir())))"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, text=True, **pipes) as living:
        assert living.stdout.readline() and living.stdout.readline()
        run(tmp_path)
        assert living.communicate("")[0].strip() == "3"
