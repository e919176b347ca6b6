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


def test_workers_are_forked_from_a_process_started_ahead_and_end_with_their_pipeline(tmp_path, monkeypatch):
    parent = workers._Parent()
    monkeypatch.setattr(workers, "_PARENT", parent)
    monkeypatch.setenv("FIRTH_OF_THE_TEST", "forth")
    monkeypatch.chdir(tmp_path)
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

    def describe(number):
        import os
        import sys

        said = os.environ["FIRTH_OF_THE_TEST"], os.getcwd(), "tensorflow" in sys.modules
        return f"{os.getpid()}|{os.getppid()}|{'|'.join(map(str, said))}"

    def fail(number):
        raise ValueError(f"in worker {describe(number)}|")

    lines = [line.split("|") for line in run(tmp_path / "a", describe)]
    assert len(lines) == 20
    replaced = parent._process
    assert replaced.pid != started.pid
    # An error in a worker reaches the caller.
    with pytest.raises(Exception, match="in worker") as error:
        run(tmp_path / "b", fail)
    assert parent._process is replaced
    failed = str(error.value).rpartition("in worker ")[2].split("|")[:5]
    assert {(int(line[1]), *line[2:]) for line in [*lines, failed]} == {
        (replaced.pid, "forth", str(tmp_path), "False")
    }
    pids = {int(line[0]) for line in lines}
    assert len(pids) == 2 and not {os.getpid(), int(failed[0])} & pids
    replaced.stdin.close()
    assert replaced.wait(60) == 0
    until = time.monotonic() + 60
    while any(map(psutil.pid_exists, {*pids, int(failed[0])})):
        assert time.monotonic() < until, "workers run without their pipeline"
        time.sleep(0.01)
