"""Row files that several processes of a training convert together; the processes are threads here.

`distribution/workers_processes_test.py` has real ones.
"""

import collections
import concurrent.futures
import os
import threading

import numpy as np
import pytest
import tensorflow as tf

from firth import storage
from firth.training import row_files
from firth.training.row_files import read_rows, read_rows_together
from firth.training.workers import ClusterError
from tests.training.artifacts import LIMITS, write_rows, write_split

ROWS, FILES = 30, 5


class _Thread:
    """One of some workers, as `firth.training.workers.Workers` is one."""

    def __init__(self, index, values, barrier):
        self.index, self.count, self.is_chief = index, barrier.parties, index == 0
        self._values, self._barrier = values, barrier

    def total(self, values):
        self._values[self.index] = values
        self._barrier.wait(60)
        totals = np.sum(self._values, axis=0).tolist()
        self._barrier.wait(60)
        return totals

    def wait(self):
        self.total([0.0])

    def check_same(self, what, number):
        if self.total([float(number)])[0] != number * self.count:
            raise ClusterError(what)


@pytest.fixture
def parsed(monkeypatch):
    """The number of records that each thread has parsed, and of files that it has read for their digest."""
    records, files = collections.Counter(), collections.Counter()
    parse, digest = tf.io.parse_example, storage.digest_of

    def counted(batch, parsers):
        records[threading.current_thread().name] += len(batch)
        return parse(batch, parsers)

    def counted_digest(path):
        files[threading.current_thread().name] += 1
        return digest(path)

    monkeypatch.setattr(tf.io, "parse_example", counted)
    monkeypatch.setattr(storage, "digest_of", counted_digest)
    return records, files


def together(count, read):
    """Returns the results of `read` in some workers, each a thread with a name of its own."""
    values, barrier = [None] * count, threading.Barrier(count)

    def work(index):
        threading.current_thread().name = f"worker {index}"
        try:
            return read(_Thread(index, values, barrier))
        except BaseException:
            barrier.abort()
            raise

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(work, index) for index in range(count)]
    errors = [each.exception() for each in futures]
    for error in errors:
        if error and not isinstance(error, threading.BrokenBarrierError):
            raise error
    return [each.result() for each in futures]


def assert_same(rows, expected):
    assert rows.digest == expected.digest and len(rows) == ROWS
    taken, wanted = rows.take(np.arange(ROWS)), expected.take(np.arange(ROWS))
    for name in wanted:
        np.testing.assert_array_equal(taken[name], wanted[name])


@pytest.fixture(params=["local", "ram://shared-rows/cache"])
def cache(tmp_path, request, monkeypatch):
    """A folder that all workers see; where it is not local, each thread has a machine's folder of its own."""
    if request.param == "local":
        yield str(tmp_path / "cache")
        return

    def own(path):
        return path if storage.is_local(path) else str(tmp_path / threading.current_thread().name)

    monkeypatch.setattr(storage, "local_folder", own)
    yield request.param
    storage.remove(request.param)


def test_each_record_is_parsed_by_one_of_two_workers(tmp_path, parsed, cache):
    patterns, (records, files) = write_split(tmp_path / "rows", ROWS, shards=FILES), parsed
    # Each for itself, as before: all records, once for each worker.
    alone = together(2, lambda worker: read_rows(patterns, tmp_path / f"own-{worker.index}", LIMITS))
    assert records == {"worker 0": ROWS, "worker 1": ROWS} and files == {"worker 0": FILES, "worker 1": FILES}
    records.clear(), files.clear()
    for rows in together(2, lambda worker: read_rows_together(patterns, cache, LIMITS, worker)):
        assert_same(rows, alone[0])
    assert records == {"worker 0": 18, "worker 1": 12} and files == {"worker 0": 3, "worker 1": 2}
    (key,) = storage.list_folder(cache)
    assert key == os.listdir(tmp_path / "own-0")[0]
    records.clear()
    # On another number of replicas, and when all are started again.
    for rows in together(3, lambda worker: read_rows_together(patterns, cache, LIMITS, worker)):
        assert_same(rows, alone[0])
    assert not records


def test_more_workers_than_files_and_files_without_rows(tmp_path):
    patterns = write_split(tmp_path / "rows", ROWS, shards=2)
    write_rows(tmp_path / "rows" / "Split-train" / "data-00009.gz", [])
    expected = read_rows(patterns, tmp_path / "own", LIMITS)
    for rows in together(4, lambda worker: read_rows_together(patterns, tmp_path / "cache", LIMITS, worker)):
        assert_same(rows, expected)


def test_a_file_that_was_converted_before_a_worker_was_lost_is_not_read_again(tmp_path, parsed, monkeypatch):
    patterns, cache, (records, _) = write_split(tmp_path / "rows", ROWS), tmp_path / "cache", parsed
    expected = read_rows(patterns, tmp_path / "own", LIMITS)

    def lost(*_):
        raise InterruptedError("the chief is gone")

    with monkeypatch.context() as patch:
        patch.setattr(row_files, "_join", lost)
        with pytest.raises(InterruptedError):
            together(2, lambda worker: read_rows_together(patterns, cache, LIMITS, worker))
    records.clear()
    for rows in together(2, lambda worker: read_rows_together(patterns, cache, LIMITS, worker)):
        assert_same(rows, expected)
    assert not records and len(os.listdir(cache)) == 1


def test_workers_that_see_other_folders_are_refused(tmp_path):
    patterns = write_split(tmp_path / "rows", ROWS, shards=2)
    with pytest.raises(OSError, match="does not exist"):
        together(2, lambda worker: read_rows_together(patterns, tmp_path / f"{worker.index}", LIMITS, worker))
    read_rows(patterns, tmp_path / "0", LIMITS)
    with pytest.raises(ClusterError, match=r"1 of 2 .*checkpoints"):
        together(2, lambda worker: read_rows_together(patterns, tmp_path / f"{worker.index}", LIMITS, worker))
