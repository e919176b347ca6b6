"""Outputs of components that a kill or a full disk cut short."""

import contextlib
import logging
import pathlib
import sqlite3

from firth import storage
from firth.components.pusher import UNFINISHED, VERSION_FILE
from firth.pipelines.lineage import WHOLE, executions_of, has_tables, metadata_store
from firth.pipelines.run_metadata import RunMetadata
from firth.serving.exported_model import is_version

# Table, column, and the table whose `id` the column holds; parents before their children.
_REFERENCES = (
    ("ArtifactProperty", "artifact_id", "Artifact"),
    ("ExecutionProperty", "execution_id", "Execution"),
    ("ContextProperty", "context_id", "Context"),
    ("ParentContext", "context_id", "Context"),
    ("ParentContext", "parent_context_id", "Context"),
    ("Association", "context_id", "Context"),
    ("Association", "execution_id", "Execution"),
    ("Attribution", "context_id", "Context"),
    ("Attribution", "artifact_id", "Artifact"),
    ("Event", "artifact_id", "Artifact"),
    ("Event", "execution_id", "Execution"),
    ("EventPath", "event_id", "Event"),
)


def remove_leftovers(
    pipeline_root: pathlib.Path, metadata: RunMetadata, serving_dir: pathlib.Path | None = None
) -> list[pathlib.Path]:
    """Removes the folders of executions that did not end, and returns them.

    TFX removes the outputs of a component that raises, but cannot after a kill. The folders are
    `<component>/<output>/<execution>`, those that are written next to their place and renamed
    (`.<execution>.<anything>`), and `<component>/.system/*/<execution>`.
    """
    store = metadata_store(metadata)
    if store is None:
        return []
    found: list[pathlib.Path] = []
    executions = executions_of(store, metadata.pipeline)
    cut_short = [each for each in executions if each.last_known_state not in WHOLE]
    for execution in cut_short:
        for pattern in (f"*/*/{execution.id}", f"*/*/.{execution.id}.*", f"*/.system/*/{execution.id}"):
            found += sorted(pipeline_root.glob(pattern))
    if serving_dir is not None:
        found += _pushed(found, serving_dir)
    for folder in found:
        try:
            storage.remove(folder)
        except OSError as error:
            logging.warning("%s cannot be removed, and stays: %s", folder, error)
    return found


def _pushed(folders: list[pathlib.Path], serving_dir: pathlib.Path) -> list[pathlib.Path]:
    """Returns the versions that Pushers among the executions wrote, and their unfinished folders."""
    numbers = [str(storage.read_json_object(folder / VERSION_FILE).get("version")) for folder in folders]
    versions = (serving_dir / version for version in numbers if is_version(version))
    return sorted(filter(storage.exists, versions)) + sorted(serving_dir.glob(UNFINISHED))


def remove_dangling_rows(metadata_path: pathlib.Path) -> int:
    """Removes rows that belong to nothing, and returns their number."""
    if not has_tables(metadata_path):
        return 0
    with contextlib.closing(sqlite3.connect(metadata_path)) as database, database:
        return sum(
            database.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM {parent})").rowcount
            for table, column, parent in _REFERENCES
        )
