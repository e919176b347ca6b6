"""Removes rows of ML Metadata that a full disk left half-written.

SQLite undoes a transaction for which there is no room, but ML Metadata goes on writing the rest of it. That
rest belongs to an execution that does not exist, until the next one takes its number. Without the repair, a
later run did not start its Trainer, because its first component had the failed Trainer's context.
"""

import contextlib
import pathlib
import sqlite3

from firth.pipelines.metadata.lineage import has_tables

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


def remove_dangling_rows(metadata_path: pathlib.Path) -> int:
    """Removes rows that belong to nothing, and returns their number."""
    if not has_tables(metadata_path):
        return 0
    with contextlib.closing(sqlite3.connect(metadata_path)) as database, database:
        return sum(
            database.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM {parent})").rowcount
            for table, column, parent in _REFERENCES
        )
