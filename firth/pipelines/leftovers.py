"""Outputs of components that a kill or a full disk cut short."""

import pathlib
import shutil

from firth.pipelines.lineage import WHOLE, metadata_store


def remove_leftovers(pipeline_root: pathlib.Path, metadata_path: pathlib.Path) -> list[pathlib.Path]:
    """Removes the folders of executions that did not come to their end, and returns them.

    TFX removes what a component that raises has written, but nobody is left to do so after a kill. The
    folders are `<component>/<output>/<execution>`, those that are written aside and renamed
    (`.<execution>.<anything>`), and `<component>/.system/*/<execution>`.

    Args:
        pipeline_root: Where TFX keeps artifacts. No run may be going on there.
        metadata_path: Its SQLite file.
    """
    found = []
    for execution in _cut_short(metadata_path):
        for pattern in (f"*/*/{execution}", f"*/*/.{execution}.*", f"*/.system/*/{execution}"):
            found += sorted(pipeline_root.glob(pattern))
    for folder in found:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _cut_short(metadata_path: pathlib.Path) -> list[int]:
    store = metadata_store(metadata_path)
    executions = store.get_executions() if store else []
    return [execution.id for execution in executions if execution.last_known_state not in WHOLE]
