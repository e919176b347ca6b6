"""Files of killed processes go when their place is next written; those of living processes stay."""

import concurrent.futures
import errno
import fcntl
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

from firth import storage

WRITE_AND_WAIT = """
import pathlib, sys, time
from firth import storage
kind, place = sys.argv[1:]
with getattr(storage, kind)(place) as made:
    if kind == "whole_folder":
        pathlib.Path(made, "a").write_text("half")
    else:
        made.write(b"half")
        made.flush()
    print("begun", flush=True)
    time.sleep(600)
"""


def write(kind, place):
    with getattr(storage, kind)(place) as made:
        if kind == "whole_folder":
            pathlib.Path(made, "a").write_text("whole")
        else:
            made.write(b"whole")


@pytest.fixture(params=["whole_file", "whole_folder"])
def kind(request):
    return request.param


def start(kind, place):
    """Returns a process that writes until it is killed."""
    command = [sys.executable, "-c", WRITE_AND_WAIT, kind, place]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    return process


def test_what_a_killed_process_left_goes_and_what_a_living_one_writes_stays(tmp_path, kind):
    killed, living = start(kind, tmp_path / "model"), start(kind, tmp_path / "model")
    with killed, living:
        try:
            killed.kill()
            killed.wait()
            assert 1 <= len(storage.list_folder(tmp_path)) <= 2
            write(kind, tmp_path / "model")
            (unfinished, model) = storage.list_folder(tmp_path)
        finally:
            living.kill()
    assert model == "model" and unfinished.startswith(".model.")
    storage.remove(tmp_path / "model")
    write(kind, tmp_path / "model")
    assert storage.list_folder(tmp_path) == ["model"]


def test_two_that_write_one_file_both_end(tmp_path):
    with storage.whole_file(tmp_path / "a") as first:
        first.write(b"first")
        write("whole_file", tmp_path / "a")
        assert storage.read_text(tmp_path / "a") == "whole"
    assert storage.read_text(tmp_path / "a") == "first"
    assert storage.list_folder(tmp_path) == ["a"]


def test_what_is_written_aside_is_swept_there(tmp_path):
    left = tmp_path / f".a.{'0' * 32}"
    left.touch()
    with storage.whole_file(tmp_path / "split" / "a", aside=tmp_path):
        assert not left.exists()
    assert storage.files_below(tmp_path) == ["split/a"]


def write_often(place):
    for _ in range(50):
        write("whole_file", place)


def test_many_processes_that_write_one_file_do_not_disturb_each_other(tmp_path):
    methods = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(4, methods) as pool:
        list(pool.map(write_often, [str(tmp_path / "a")] * 4))
    assert storage.list_folder(tmp_path) == ["a"]
    assert storage.read_text(tmp_path / "a") == "whole"


def test_what_is_made_and_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    flock, swept = fcntl.flock, []

    def sweep_first(descriptor, operation):
        if not swept:
            (left,) = tmp_path.iterdir()
            swept.append(left)
            storage.remove(left)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", sweep_first)
    write("whole_file", tmp_path / "a")
    assert swept and storage.list_folder(tmp_path) == ["a"]


def test_without_locks_what_was_left_stays(tmp_path, kind, monkeypatch):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    left = f".model.{'0' * 32}"
    (tmp_path / left).mkdir()
    write(kind, tmp_path / "model")
    assert storage.list_folder(tmp_path) == [left, "model"]


def test_what_killed_uploads_and_downloads_left_on_this_machine_goes(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = [tmp_path / f".firth-scratch.{digit * 32}" for digit in "01"]
    place = f"ram://unfinished/{os.getpid()}/{kind}"
    left[0].mkdir()
    write(kind, place)
    left[1].mkdir()
    with storage.local_copy(place) as copy:
        (own,) = tmp_path.iterdir()
        assert pathlib.Path(copy).parent == own and own.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_the_process_stays_while_the_process_lives(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = storage.local_folder(f"ram://unfinished/{os.getpid()}/rows")
    write("whole_file", f"ram://unfinished/{os.getpid()}/file")
    assert os.path.isdir(folder) and storage.list_folder(tmp_path) == [os.path.basename(folder)]
