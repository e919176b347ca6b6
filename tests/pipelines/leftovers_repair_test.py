import contextlib
import sqlite3

from ml_metadata.proto import metadata_store_pb2

from firth.pipelines.leftovers import remove_dangling_rows
from tests.pipelines.sqlite_stores import open_store


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
