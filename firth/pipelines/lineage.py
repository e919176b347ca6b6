"""Reads from ML Metadata what the newest run of a pipeline used, cached outputs included."""

import pathlib

from ml_metadata import errors
from ml_metadata.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2

# The type that TFX gives to the context of one run.
RUN_CONTEXT = "pipeline_run"
NODE_CONTEXT = "node"

Outputs = dict[str, dict[str, pathlib.Path]]


def newest_outputs(metadata_path: pathlib.Path) -> Outputs:
    """Returns the folders of a local pipeline's newest run, as `{component: {output: folder}}`.

    Executions whose output came from the cache are listed with the folder that they reused.
    """
    config = metadata_store_pb2.ConnectionConfig()
    config.sqlite.filename_uri = str(metadata_path)
    config.sqlite.connection_mode = metadata_store_pb2.SqliteMetadataSourceConfig.READONLY
    store = MetadataStore(config)
    try:
        runs = store.get_contexts_by_type(RUN_CONTEXT)
    except errors.NotFoundError:
        return {}
    if not runs:
        return {}
    newest = max(runs, key=lambda context: context.id)
    return {
        _component(store, execution): _outputs(store, execution)
        for execution in store.get_executions_by_context(newest.id)
    }


def _component(store: MetadataStore, execution: metadata_store_pb2.Execution) -> str:
    contexts = store.get_contexts_by_execution(execution.id)
    names = [context.name for context in contexts if context.type == NODE_CONTEXT]
    return names[0].split(".", 1)[1]


def _outputs(store: MetadataStore, execution: metadata_store_pb2.Execution) -> dict[str, pathlib.Path]:
    events = [
        event
        for event in store.get_events_by_execution_ids([execution.id])
        if event.type == metadata_store_pb2.Event.OUTPUT
    ]
    uris = {a.id: a.uri for a in store.get_artifacts_by_id([event.artifact_id for event in events])}
    return {event.path.steps[0].key: pathlib.Path(uris[event.artifact_id]) for event in events}
