"""A model of another library as a folder among the runs."""

import dataclasses
import datetime
import os
import pathlib
import time
from typing import TYPE_CHECKING

from firth import storage
from firth.pipelines.results import SUMMARY_FILE
from firth.storage import BUNDLE_FOLDER

if TYPE_CHECKING:
    from firth.interop.read import Read
    from firth.interop.table import Format

RECIPE_FILE = "recipe.yaml"
SERVING_FOLDER = "serving"


def import_run(
    format: "Format", path: str | os.PathLike[str], run_dir: pathlib.Path, name: str | None = None
) -> "Read":
    """Makes a model of another library a folder among the runs: its bundle, and a SavedModel to be asked.

    `firth predict` asks it, a recipe's `base` continues from it, and `firth.models.load_model` reads its
    bundle. The folder appears whole or not at all.

    Args:
        format: Format of the other library.
        path: Path of the model in that format.
        run_dir: Folder of the run, where nothing is.
        name: Name of the model; None takes that of the run's folder.

    Returns:
        What was read.

    Raises:
        firth.interop.errors.InteropError: for what cannot be read, or cannot be expressed here.
        FileExistsError: if there is something in the folder's place.
    """
    from firth.serving import export_bundle

    version = str(int(time.time()))
    with storage.whole_folder(run_dir) as unfinished:
        bundle = os.path.join(unfinished, BUNDLE_FOLDER)
        read = format.import_model(path, bundle, name or run_dir.name)
        export_bundle(bundle, os.path.join(unfinished, SERVING_FOLDER, version))
        storage.copy_file(os.path.join(bundle, RECIPE_FILE), os.path.join(unfinished, RECIPE_FILE))
        home = pathlib.Path(run_dir).absolute()
        summary = {
            "finished": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "imported_from": format.title,
            "pushed": str(home / SERVING_FOLDER / version),
            "served": str(home / SERVING_FOLDER / version),
            "bundle": str(home / BUNDLE_FOLDER),
            **dataclasses.asdict(read),
        }
        storage.write_json(os.path.join(unfinished, SUMMARY_FILE), summary, indent=1)
    return read
