"""A model in Hugging Face's format becomes a bundle."""

import os
from typing import Literal

from firth import storage
from firth.interop.hugging_face.directory import Directory
from firth.interop.hugging_face.tokenizers import read_tokenizer
from firth.interop.hugging_face.weights import read_weights
from firth.interop.imported import Imported
from firth.interop.read import Read


def import_model(path: str | os.PathLike[str], folder: str | os.PathLike[str], name: str) -> Read:
    """Writes a checkpoint as a model bundle, which `firth.models.load_model` reads.

    Args:
        path: Path of the folder in Hugging Face's format.
        folder: Place of the bundle, where nothing is.
        name: Name of the model.

    Returns:
        Which weights the checkpoint lacks, so that they are fresh, and which tensors have no place.

    Raises:
        InteropError: for what cannot be read, or cannot be expressed here, by key or by tensor.
        FileExistsError: if there is something in the bundle's place.
    """
    directory, tokenizer = Directory(path), read_tokenizer(path)
    family = directory.family
    with directory.tensors() as tensors:
        imported = Imported(
            path=directory.path,
            origin=f"{family.model_type} in Hugging Face's format",
            model=family.read_model(directory.config),
            objective=family.objective(tensors),
            vocabulary_size=directory.vocabulary_size,
            tokenizer=tokenizer,
            pooling=_pooling(directory.path),
        )
        return imported.write(
            name, folder, lambda model, recipe: read_weights(model, recipe, family, tensors)
        )


def _pooling(folder: str) -> Literal["mean", "mean_with_special"]:
    """Returns how sentence-transformers pools, if the folder says that it does."""
    said = storage.read_json(os.path.join(folder, "1_Pooling", "config.json")) or {}
    return "mean_with_special" if said.get("pooling_mode_mean_tokens") else "mean"
