"""Reads the artifacts of a pipeline's newest run from ML Metadata, cached outputs included."""

import contextlib
import pathlib
import sqlite3
from collections.abc import Iterator

from ml_metadata import errors
from ml_metadata.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2

from firth.pipelines.metadata_stores import connection_config
from firth.pipelines.run_metadata import RunMetadata

# The types that TFX gives to the contexts of one run, and of all runs of a pipeline.
RUN_CONTEXT, PIPELINE_CONTEXT = "pipeline_run", "pipeline"
NODE_CONTEXT = "node"
# As TFX's Pusher stamps its output.
PUSHER, PUSHED_MODEL = "Pusher", "pushed_model"
PUSHED_PROPERTY, DESTINATION_PROPERTY = "pushed", "pushed_destination"
# Where ML Metadata keeps the version of its tables.
_VERSION_TABLE = "MLMDEnv"
_VERSION = f"SELECT 1 FROM {_VERSION_TABLE}"
# States of executions whose outputs are whole.
WHOLE = (metadata_store_pb2.Execution.COMPLETE, metadata_store_pb2.Execution.CACHED)

Outputs = dict[str, dict[str, pathlib.Path]]
Artifacts = dict[str, metadata_store_pb2.Artifact]


def newest_outputs(metadata: RunMetadata) -> Outputs:
    """Returns the folders of a local pipeline's newest run, as `{component: {output: folder}}`.

    Executions whose output came from the cache are listed with the folder that they reused.
    """
    return {
        component: {name: pathlib.Path(artifact.uri) for name, artifact in artifacts.items()}
        for component, artifacts in _newest_artifacts(metadata)
    }


def newest_push(metadata: RunMetadata) -> pathlib.Path | None:
    """Returns the version to which a local pipeline's newest run pushed its model; None if it did not push.

    A Pusher whose output came from the cache has pushed the same model before.
    """
    pushed = dict(_newest_artifacts(metadata)).get(PUSHER, {}).get(PUSHED_MODEL)
    if pushed is None or not pushed.custom_properties[PUSHED_PROPERTY].int_value:
        return None
    return pathlib.Path(pushed.custom_properties[DESTINATION_PROPERTY].string_value)


def has_completed(metadata: RunMetadata, component: str) -> bool:
    """Returns true if a component has ended in any run of a local pipeline."""
    store = metadata_store(metadata)
    if store is None:
        return False
    try:
        nodes = store.get_contexts_by_type(NODE_CONTEXT)
    except errors.NotFoundError:
        return False
    if metadata.pipeline:
        nodes = [each for each in nodes if each.name == f"{metadata.pipeline}.{component}"]
    executions = [
        execution
        for node in nodes
        if node.name.rsplit(".", 1)[-1] == component
        for execution in store.get_executions_by_context(node.id)
    ]
    return any(execution.last_known_state in WHOLE for execution in executions)


def executions_of(store: MetadataStore, pipeline: str) -> list[metadata_store_pb2.Execution]:
    """Returns the executions of a pipeline, in any of its runs."""
    if not pipeline:
        return list(store.get_executions())
    context = store.get_context_by_type_and_name(PIPELINE_CONTEXT, pipeline)
    return list(store.get_executions_by_context(context.id)) if context else []


def _runs(store: MetadataStore, pipeline: str) -> list[metadata_store_pb2.Context]:
    if not pipeline:
        return list(store.get_contexts_by_type(RUN_CONTEXT))
    newest = max((each.id for each in executions_of(store, pipeline)), default=None)
    contexts = [] if newest is None else store.get_contexts_by_execution(newest)
    return [each for each in contexts if each.type == RUN_CONTEXT]


def _newest_artifacts(metadata: RunMetadata) -> Iterator[tuple[str, Artifacts]]:
    store = metadata_store(metadata)
    if store is None:
        return
    try:
        runs = _runs(store, metadata.pipeline)
    except errors.NotFoundError:
        return
    if not runs:
        return
    newest = max(runs, key=lambda context: context.id)
    for execution in store.get_executions_by_context(newest.id):
        yield _component(store, execution), _artifacts(store, execution)


def metadata_store(metadata: RunMetadata) -> MetadataStore | None:
    """Returns the metadata of a local pipeline, read-only; None if no run has recorded metadata.

    A run that is killed, or that fills the disk, may leave a file without tables.
    """
    if "://" in metadata.place:
        return MetadataStore(connection_config(metadata.place))
    if not has_tables(pathlib.Path(metadata.place)):
        return None
    config = connection_config(metadata.place)
    config.sqlite.connection_mode = metadata_store_pb2.SqliteMetadataSourceConfig.READONLY
    return MetadataStore(config)


def has_tables(metadata_path: pathlib.Path) -> bool:
    """Returns true if ML Metadata has made its tables in a file, which need not exist."""
    if not metadata_path.exists():
        return False
    # SQLite removes the half-written rows of a killed run only if it may write.
    address = f"{metadata_path.absolute().as_uri()}?mode=rw"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        # ML Metadata adds missing tables to a file that has its version.
        return _VERSION_TABLE in names and bool(database.execute(_VERSION).fetchone())


def _component(store: MetadataStore, execution: metadata_store_pb2.Execution) -> str:
    contexts = store.get_contexts_by_execution(execution.id)
    names = [context.name for context in contexts if context.type == NODE_CONTEXT]
    return names[0].rsplit(".", 1)[-1]


def _artifacts(store: MetadataStore, execution: metadata_store_pb2.Execution) -> Artifacts:
    events = [
        event
        for event in store.get_events_by_execution_ids([execution.id])
        if event.type == metadata_store_pb2.Event.OUTPUT
    ]
    found = {each.id: each for each in store.get_artifacts_by_id([event.artifact_id for event in events])}
    return {event.path.steps[0].key: found[event.artifact_id] for event in events}
