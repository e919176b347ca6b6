"""Outputs of components that a kill or a full disk cut short."""

import logging
import pathlib

from firth import storage
from firth.components.pusher.executor import UNFINISHED, VERSION_FILE
from firth.pipelines.metadata.lineage import WHOLE, executions_of, metadata_store
from firth.pipelines.metadata.of_run import RunMetadata
from firth.serving.versions import is_version


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
    """Returns the versions that Pushers among the executions wrote, and what they wrote aside."""
    said = [str(storage.read_json_object(folder / VERSION_FILE).get("version")) for folder in folders]
    versions = (serving_dir / version for version in said if is_version(version))
    return sorted(filter(storage.exists, versions)) + sorted(serving_dir.glob(UNFINISHED))
