import signal
import subprocess
import sys

import pytest
from ml_metadata.proto import metadata_store_pb2

from firth.pipelines.leftovers import remove_leftovers
from firth.pipelines.lineage import has_completed, newest_outputs
from firth.pipelines.run_metadata import RunMetadata
from tests.pipelines.sqlite_stores import open_store

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
    metadata = RunMetadata(str(path))
    if has_tables:
        open_store(path).put_execution_type(metadata_store_pb2.ExecutionType(name="Curator"))
    killed = subprocess.run([sys.executable, "-c", HALF_WRITTEN, str(path)])
    journal = path.with_name(f"{path.name}-journal")
    assert killed.returncode == -signal.SIGKILL and journal.stat().st_size
    assert remove_leftovers(tmp_path / "pipeline", metadata) == []
    assert not has_completed(metadata, "Curator") and newest_outputs(metadata) == {}
    assert not journal.exists()


def test_metadata_that_a_full_disk_left_empty_are_none(tmp_path):
    path = tmp_path / "metadata.sqlite"
    metadata = RunMetadata(str(path))
    path.touch()
    assert remove_leftovers(tmp_path / "pipeline", metadata) == []
    assert not has_completed(metadata, "Curator") and newest_outputs(metadata) == {}
