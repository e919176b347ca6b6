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


BLOCKS = """
import os, tempfile
from firth import storage
def place(): return os.environ.get("TMPDIR"), tempfile.tempdir, tempfile.gettempdir(), dict(os.environ)
tempfile.gettempdir()
before, folders = place(), set()
for _ in range(2):
    try:
        with storage.keeping_temporary_files():
            folders.add(os.path.dirname(tempfile.mkstemp()[1]))
            assert os.environ["TMPDIR"] in folders and storage.lasting_temporary_folder() == before[2]
            raise KeyError
    except KeyError:
        assert place() == before
assert len(folders) == 1 and before[2] not in folders and os.path.isdir(*folders)
storage.keep_temporary_files()
with storage.keeping_temporary_files():
    pass
assert os.environ["TMPDIR"] in folders and tempfile.gettempdir() in folders
"""


def test_a_block_keeps_its_temporary_files_and_restores_their_place(tmp_path):
    for more in ({"TMPDIR": str(tmp_path)}, {}):
        environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"} | more
        environment.pop("FIRTH_LASTING_TMPDIR", None)
        subprocess.run([sys.executable, "-c", BLOCKS], env=environment, check=True)
        assert os.listdir(tmp_path) == []


def test_a_folder_of_multiprocessing_is_there_when_it_is_removed(tmp_path):
    code = (
        "import os; from multiprocessing import util\n"
        f"{LEAVES}folder = util.get_temp_dir()\n"
        "util.Finalize(None, lambda: print(os.path.isdir(folder)), exitpriority=-99)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split()[-1] == "True" and done.stderr == "" and os.listdir(tmp_path) == []


def test_the_folder_of_a_process_that_lives_stays(tmp_path):
    code = f"{LEAVES}sys.stdin.read(); print(len(os.listdir(tempfile.gettempdir())))"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, text=True, **pipes) as living:
        assert living.stdout.readline() and living.stdout.readline()
        run(tmp_path)
        assert living.communicate("")[0].strip() == "3"
