"""Outputs of components that a kill or a full disk cut short."""

import logging
import pathlib

from ml_metadata.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2

from firth import storage
from firth.components.pusher.executor import UNFINISHED
from firth.pipelines.metadata.lineage import (
    DESTINATION_PROPERTY,
    PUSHED_TYPE,
    PUSHER,
    WHOLE,
    executions_of,
    metadata_store,
)
from firth.pipelines.metadata.of_run import RunMetadata

_SECONDS_TO_BEGIN = 60


def remove_leftovers(
    pipeline_root: pathlib.Path, metadata: RunMetadata, serving_dir: pathlib.Path | None = None
) -> list[pathlib.Path]:
    """Removes the folders of executions that did not end, and returns them.

    TFX removes the outputs of a component that raises, but cannot after a kill. The folders are
    `<component>/<output>/<execution>`, those that are written next to their place and renamed
    (`.<execution>.<anything>`), and `<component>/.system/*/<execution>`.

    Args:
        pipeline_root: Folder where TFX keeps artifacts. No run may be going on there.
        metadata: Where its metadata are.
        serving_dir: Folder where versions of the model are pushed. Versions that a Pusher left without
            recording them are removed too.
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
        found += _pushed_by(cut_short, store, serving_dir)
    for folder in found:
        try:
            storage.remove(folder)
        except OSError as error:
            logging.warning("%s cannot be removed, and stays: %s", folder, error)
    return found


def _pushed_by(
    executions: list[metadata_store_pb2.Execution], store: MetadataStore, serving_dir: pathlib.Path
) -> list[pathlib.Path]:
    """Returns the versions that Pushers among the executions wrote, and what they wrote aside."""
    begun = [
        each.create_time_since_epoch // 1000 for each in executions if each.type.rsplit(".", 1)[-1] == PUSHER
    ]
    if not begun:
        return []
    recorded = {
        pathlib.Path(artifact.custom_properties[DESTINATION_PROPERTY].string_value).name
        for artifact in store.get_artifacts_by_type(PUSHED_TYPE)
    }
    # A version is the time at which it was pushed, in seconds.
    versions = [path for path in serving_dir.glob("*") if path.name.isdigit() and path.name not in recorded]
    unfinished = sorted(serving_dir.glob(UNFINISHED))
    return sorted(path for path in versions if _is_of_one(int(path.name), begun)) + unfinished


def _is_of_one(version: int, begun: list[int]) -> bool:
    """Whether a Pusher chose a version. It does so when it begins; what comes later is somebody else's."""
    return any(start <= version <= start + _SECONDS_TO_BEGIN for start in begun)
