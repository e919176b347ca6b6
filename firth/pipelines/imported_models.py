"""Imported and merged models as folders among the runs."""

import dataclasses
import datetime
import logging
import os
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from firth import storage
from firth.pipelines.results import SUMMARY_FILE
from firth.serving.exported_model import next_version
from firth.storage import BUNDLE_FOLDER

if TYPE_CHECKING:
    from firth.interop.formats import Format, Read
    from firth.recipes.run.adapting import AdaptingRecipe

_PROGRESS = logging.getLogger("firth.progress")
RECIPE_FILE = "recipe.yaml"
SERVING_FOLDER = "serving"


def import_run(
    format: "Format", path: str | os.PathLike[str], run_dir: pathlib.Path, **choices: str
) -> "Read":
    """Makes a model of another library a folder among the runs: its bundle, and a SavedModel to be asked.

    `firth predict` asks it, a recipe's `base` continues from it, and `firth.models.load_model` reads its
    bundle. The folder appears whole or not at all.

    Raises:
        firth.interop.errors.InteropError: for parts that cannot be read, or cannot be expressed here.
        FileExistsError: if there is something in the folder's place.
    """
    read: list[Read] = []

    def fill(bundle: str) -> dict[str, Any]:
        read.append(format.import_model(path, bundle, run_dir.name, **choices))
        return {"imported_from": format.title, **dataclasses.asdict(read[0])}

    _make(run_dir, fill)
    return read[0]


def merge_run(bundle: str, adapter: str, run_dir: pathlib.Path) -> "AdaptingRecipe":
    """Makes a base and an adapter that was trained on it a folder among the runs, as `import_run` does.

    What the adapter adds becomes a part of the base's weights, and the model answers its task.

    Raises:
        firth.tuning.AdapterError: if the adapter cannot be read, belongs to another base, or does not merge.
        firth.models.BundleError: if the bundle cannot be read.
        FileExistsError: if there is something in the folder's place.
    """
    from firth.corpus.decontamination.evidence import evidence_files
    from firth.models import save_model
    from firth.recipes.run.base import TOKENIZER_FOLDER
    from firth.tokenizers.storage import copy_tokenizer
    from firth.training.run_fn import corpora_of
    from firth.tuning import load_merged

    model, recipe = load_merged(adapter, bundle)

    def fill(folder: str) -> dict[str, Any]:
        tokenizer = os.path.join(bundle, TOKENIZER_FOLDER)
        kept = f"{folder}_{TOKENIZER_FOLDER}"
        copy_tokenizer(tokenizer, kept, recipe.task)
        with evidence_files(corpora_of(recipe, tokenizer)) as others:
            save_model(model, recipe, kept, folder, others=others)
        storage.remove(kept)
        return {"imported_from": f"adapter, {recipe.method.kind}", "adapter": adapter, "base": bundle}

    _make(run_dir, fill)
    return recipe


def _report_part(part: str) -> None:
    _PROGRESS.info("%s", part, extra={"firth": {"kind": "import", "part": part, "done": 0, "of": 0}})


def _make(run_dir: pathlib.Path, fill: Callable[[str], dict[str, Any]]) -> None:
    """Writes a folder with the bundle that a function writes, its SavedModel, and the facts it returns."""
    from firth.serving import export_bundle

    _report_part("reading the model")
    version = next_version(os.path.join(run_dir, SERVING_FOLDER))
    with storage.whole_folder(run_dir) as unfinished:
        bundle = os.path.join(unfinished, BUNDLE_FOLDER)
        facts = fill(bundle)
        _report_part("exporting its SavedModel")
        export_bundle(bundle, os.path.join(unfinished, SERVING_FOLDER, version))
        storage.copy_file(os.path.join(bundle, RECIPE_FILE), os.path.join(unfinished, RECIPE_FILE))
        home = pathlib.Path(run_dir).absolute()
        summary = {
            "finished": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "pushed": str(home / SERVING_FOLDER / version),
            "served": str(home / SERVING_FOLDER / version),
            "bundle": str(home / BUNDLE_FOLDER),
            **facts,
        }
        storage.write_json(os.path.join(unfinished, SUMMARY_FILE), summary, indent=1)
