"""A model bundle with its tokenizer, for reading texts without an exported model."""

import os
from typing import Any

from firth import storage
from firth.models.build import build_outline
from firth.models.bundle import load_model, open_weights, read_recipe
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.serving.saved_model import export_streamed
from firth.serving.served import Served
from firth.tokenizers import load_tokenizer


def load_served(folder: str | os.PathLike[str], dtype: Any = None) -> Served:
    """Returns the model of a bundle with its tokenizer, which frames texts as in training. Needs no TFX.

    Args:
        folder: Path of the folder that `firth.models.save_model` wrote.
        dtype: A Keras dtype or policy in the place of the recipe's `training.precision`.

    Raises:
        firth.storage.NotWholeError: if there is no such folder, or what wrote it was cut short.
        firth.models.BundleError: if files are missing or damaged.
        firth.tokenizers.TokenizerMismatchError: if the tokenizer's files were changed.

    Example: hidden states and logits of texts, in a notebook.

        record = json.loads(pathlib.Path("firth-runs/bert_mini/run.json").read_text())
        served = load_served(record["bundle"])
        features = served.encode(["The fox [MASK] over the dog."]).features
        hidden = served.model.backbone(features)
        logits = served.model.logits(features)["mlm"]
    """
    storage.check_whole(folder)
    with storage.local_copy(folder) as local:
        tokenizer = load_tokenizer(os.path.join(local, TOKENIZER_FOLDER))
        return Served(load_model(local, dtype), tokenizer, read_recipe(local))


def export_bundle(folder: str | os.PathLike[str], directory: str | os.PathLike[str]) -> None:
    """Writes the SavedModel of a bundle, which answers raw strings. It has no signature `evaluate`.

    Args:
        folder: Path of the folder that `firth.models.save_model` wrote.
        directory: Folder that does not exist yet, or is empty.

    Raises:
        ValueError: as `load_served` does.
        FileExistsError: if the directory holds something.
    """
    storage.check_whole(folder)
    with storage.local_copy(folder) as local, open_weights(local) as file:
        tokenizer = load_tokenizer(os.path.join(local, TOKENIZER_FOLDER))
        recipe = read_recipe(local)
        export_streamed(build_outline(recipe), file, tokenizer, recipe, os.fspath(directory))
