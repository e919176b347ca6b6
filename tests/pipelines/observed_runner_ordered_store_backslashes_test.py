"""Values with backslashes, which are most of a recipe's, in PostgreSQL."""

import os
import subprocess
import sys

import pytest
from ml_metadata import errors
from ml_metadata.metadata_store import MetadataStore
from ml_metadata.proto.metadata_store_pb2 import STRING, ConnectionConfig, Context, Execution, ExecutionType

from firth.pipelines.metadata_stores import PASSWORD_VARIABLE, connection_config
from firth.pipelines.observed_runner import OrderedMetadata, without_backslashes
from tests.pipelines.metadata_stores_test import PASSWORD, QUOTED, PostgreSQL, server  # noqa: F401
from tests.pipelines.pretrain_warm_start_test import OPTIONS, SMALL, write_texts

PATTERN = '[["\\\\r\\\\n?", "it\'s"]]'


def execution_of(type_id=0):
    execution = Execution(type_id=type_id)
    execution.properties["pattern"].string_value = PATTERN
    execution.custom_properties["said"].string_value = "C:\\texts"
    execution.custom_properties["number"].int_value = 3
    return execution


def test_values_are_written_without_backslashes_and_the_given_ones_stay():
    given, context = execution_of(), Context(name="run")
    (made, others), named = without_backslashes(((given, [(given, None)]), {"contexts": [context]}))
    for each in (made, others[0][0]):
        assert each.properties["pattern"].string_value == '[["%5C%5Cr%5C%5Cn?", "it\'s"]]'
        assert each.custom_properties["said"].string_value == "C:%5Ctexts"
        assert each.custom_properties["number"].int_value == 3
    assert named == {"contexts": [context]} and others[0][1] is None
    assert given == execution_of()


def test_a_file_of_sqlite_keeps_them(tmp_path):
    with OrderedMetadata(connection_config(f"{tmp_path}/metadata.sqlite")) as handle:
        assert written(handle.store) == PATTERN


def written(store):
    """The value that a store has once an execution was put there."""
    type_id = store.put_execution_type(ExecutionType(name="Made", properties={"pattern": STRING}))
    number, _, _ = store.put_execution(execution_of(type_id), [], [])
    (found,) = store.get_executions_by_id([number])
    return found.properties["pattern"].string_value


@pytest.mark.repeated
@pytest.mark.parametrize("server", [PostgreSQL], indirect=True)
def test_postgresql_takes_them(server):  # noqa: F811
    with OrderedMetadata(connection_config(server.url)) as handle:
        assert written(handle.store) == without_backslashes(execution_of()).properties["pattern"].string_value


@pytest.mark.repeated
@pytest.mark.parametrize("server", [PostgreSQL], indirect=True)
def test_ml_metadata_itself_does_not(server):  # noqa: F811
    """Once this fails, ML Metadata has mended it, and `backslashes` may go."""
    config = connection_config(server.url)
    assert isinstance(config, ConnectionConfig)
    with pytest.raises(errors.StatusError, match="syntax error"):
        written(MetadataStore(config))


@pytest.mark.repeated
@pytest.mark.parametrize("server", [PostgreSQL], indirect=True)
def test_a_whole_pretraining(server, tmp_path):  # noqa: F811
    write_texts(tmp_path, range(1, 30))
    changes = [*OPTIONS, SMALL, f"sources=[{{kind: text, paths: ['{tmp_path}/*.txt']}}]"]
    place = server.url.replace(f":{QUOTED}", "")
    command = [
        sys.executable,
        "-m",
        "firth",
        "run",
        "demo",
        "--root",
        str(tmp_path / "runs"),
        "--metadata",
        place,
    ]
    done = subprocess.run(
        [*command, *(part for change in changes for part in ("--set", change))],
        env={**os.environ, PASSWORD_VARIABLE: PASSWORD},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert list((tmp_path / "runs" / "demo" / "serving").glob("*/saved_model.pb"))
