import os
import time

import apache_beam as beam
import psutil
import pytest

from firth.corpus.workers import forked_workers as workers
from tests.corpus.duplicates_helpers import make_pipeline_of_two_processes


def run(path, function):
    with make_pipeline_of_two_processes() as pipeline:
        numbers = pipeline | beam.Create(range(20)) | beam.Reshuffle()
        _ = numbers | beam.Map(function) | beam.io.WriteToText(str(path))
    return [line for file in path.parent.glob(f"{path.name}-*") for line in file.read_text().split()]


def test_workers_are_forked_from_one_process_and_end_with_their_pipeline(tmp_path, monkeypatch):
    monkeypatch.setenv("FIRTH_OF_THE_TEST", "forth")
    monkeypatch.chdir(tmp_path)

    def describe(number):
        import os
        import sys

        said = os.environ["FIRTH_OF_THE_TEST"], os.getcwd(), "tensorflow" in sys.modules
        return f"{os.getpid()}|{os.getppid()}|{'|'.join(map(str, said))}"

    first, second = (run(tmp_path / name, describe) for name in ("a", "b"))
    assert len(first) == len(second) == 20
    lines = [line.split("|") for line in first + second]
    parent = workers._PARENT._process.pid
    assert {(int(line[1]), *line[2:]) for line in lines} == {(parent, "forth", str(tmp_path), "False")}
    pids = {int(line[0]) for line in lines}
    assert len(pids) == 4 and os.getpid() not in pids
    until = time.monotonic() + 60
    while any(map(psutil.pid_exists, pids)):
        assert time.monotonic() < until, "workers go on"
        time.sleep(0.1)


def test_the_process_to_fork_from_is_started_ahead_where_options_ask_for_workers(tmp_path, monkeypatch):
    parent = workers._Parent()
    monkeypatch.setattr(workers, "_PARENT", parent)
    workers.fork_workers(("--direct_running_mode=in_memory", "--direct_num_workers=2"))
    workers.fork_workers(("--runner=FlinkRunner",))
    assert parent._process is None
    workers.fork_workers(("--direct_running_mode=multi_processing",))
    started = parent._process
    workers.fork_workers(("--direct_running_mode=multi_processing",))
    assert started is not None and parent._process is started
    # A parent that is gone is replaced, and one that is not needed any more ends.
    started.kill()
    started.wait()
    assert sorted(map(int, run(tmp_path / "a", str))) == list(range(20))
    replaced = parent._process
    assert replaced.pid != started.pid
    replaced.stdin.close()
    assert replaced.wait(60) == 0


def test_an_error_in_a_worker_reaches_the_caller(tmp_path):
    with pytest.raises(Exception, match="seven"):
        run(tmp_path / "a", lambda number: int("seven"))
