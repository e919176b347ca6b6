"""A model bundle with its tokenizer, for reading texts without an exported model."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from firth import storage
from firth.generation.engines import opened
from firth.models.builders import build_outline
from firth.models.bundle import open_weights, read_recipe
from firth.recipes.base.errors import suggest
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.recipes.training.export import Export
from firth.serving.answers import printed_fields
from firth.serving.exported_model import read_description
from firth.serving.saved_model import export, export_streamed
from firth.serving.served_model import Served
from firth.serving.signature_client import plain
from firth.serving.signatures import text_signatures
from firth.tokenizers import load_tokenizer


def load_served(
    folder: str | os.PathLike[str], dtype: Any = None, engine: str = "keras", **options: Any
) -> Served:
    """Returns the model of a bundle with its tokenizer, which frames texts as in training. Needs no TFX.

    Args:
        folder: Path of the folder that `firth.models.save_model` wrote.
        dtype: A Keras dtype or policy instead of the recipe's `training.precision`.
        engine: What runs the model: `keras`, or `ctranslate2`, which has the hidden states of encoders and
            their pooler, but no gradients and no graph.
        **options: Further options of the engine; see `firth.generation.load_generator`.

    Raises:
        firth.storage.NotWholeError: if there is no such folder, or what wrote it was cut short.
        ValueError: if the engine does not run the model, or there is no such engine.
        firth.models.BundleError: if files are missing or damaged.
        firth.tokenizers.TokenizerMismatchError: if the tokenizer's files were changed.

    Example: hidden states and logits of texts, in a notebook.

        record = json.loads(pathlib.Path("firth-runs/bert_mini/run.json").read_text())
        served = load_served(record["bundle"])
        features = served.encode(["The fox [MASK] over the dog."], specials=["[MASK]"]).features
        hidden = served.model.backbone(features)
        logits = served.model.logits(features)["mlm"]
    """
    storage.check_whole(folder)
    with storage.local_copy(folder) as local:
        tokenizer = load_tokenizer(os.path.join(local, TOKENIZER_FOLDER))
        model = opened("model_of", engine, local, {"dtype": dtype, **options})
        return Served(model, tokenizer, read_recipe(local))


def ask_served(
    served: Served, name: str, texts: Sequence[str]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Returns the answer template of a signature and its answers to texts, without an exported model."""
    signatures = text_signatures(served.recipe, served.tokenizer.mask_token)
    without_heads = {key: each for key, each in signatures.items() if not each.reads_heads}
    if name not in without_heads:
        raise ValueError(f"there is no signature {name} without heads; {suggest(name, without_heads)}")
    signature = without_heads[name]
    outputs = signature.function(served, tf.constant(list(texts)))
    answer = signature.describe()["answer"]
    rows = [{key: plain(np.asarray(each)[row]) for key, each in outputs.items()} for row in range(len(texts))]
    return answer, [printed_fields(answer, row) for row in rows]


def export_stored(
    folder: str | os.PathLike[str],
    directory: str | os.PathLike[str],
    rows: Sequence[bytes] = (),
    **settings: Any,
) -> dict[str, Any]:
    """Writes the SavedModel of a bundle with other settings of `export`, and returns its description.

    It has no signature `evaluate`.

    Args:
        rows: Serialized held-out rows, on which the loss by weights of another type is measured.
        **settings: Keys of the recipe's `export`, such as `weights` and `schemas`.

    Raises:
        ValueError: for a setting that is not valid, with the nearest name, a weight that cannot be stored so,
            a schema that is not supported, and as `load_served` does.
        FileExistsError: if the directory holds something.
    """
    # Before the model is read, which takes long.
    Export.of(settings)
    served = load_served(folder)
    recipe = served.recipe.model_copy(
        update={"export": Export.of({**served.recipe.export.model_dump(), **settings})}
    )
    export(served.model, served.tokenizer, recipe, None, os.fspath(directory), rows)
    return read_description(os.fspath(directory))


def export_bundle(folder: str | os.PathLike[str], directory: str | os.PathLike[str]) -> None:
    """Writes the SavedModel of a bundle, which answers raw strings. It has no signature `evaluate`.

    Weights are stored as its recipe says (`export.weights`); the loss by it is not measured.

    Args:
        folder: Path of the folder that `firth.models.save_model` wrote.
        directory: Folder that does not exist yet, or is empty.

    Raises:
        ValueError: if a weight cannot be stored so, and as `load_served` does.
        FileExistsError: if the directory holds something.
    """
    storage.check_whole(folder)
    with storage.local_copy(folder) as local, open_weights(local) as file:
        tokenizer = load_tokenizer(os.path.join(local, TOKENIZER_FOLDER))
        recipe = read_recipe(local)
        export_streamed(build_outline(recipe), file, tokenizer, recipe, os.fspath(directory))
