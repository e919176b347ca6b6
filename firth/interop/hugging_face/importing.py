"""A model in Hugging Face's format becomes a bundle."""

import os
from typing import Literal

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.hugging_face.directory import Directory
from firth.interop.hugging_face.tokenizers import read_tokenizer
from firth.interop.hugging_face.weights import Read, read_weights
from firth.models.build import build_model
from firth.models.bundle import save_model
from firth.recipes.run.imported import ImportedRecipe
from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig
from firth.recipes.training.export import Export
from firth.tokenizers import WordPieceTokenizer, save_tokenizer

_LONGEST = 512


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
    recipe = _recipe(directory, tokenizer, name)
    model = build_model(recipe)
    with directory.tensors() as tensors:
        read = read_weights(model, recipe, directory.family, tensors)
    with storage.scratch_folder() as scratch:
        save_tokenizer(tokenizer, os.path.join(scratch, "tokenizer"))
        save_model(model, recipe, os.path.join(scratch, "tokenizer"), folder)
    return read


def _pooling(folder: str) -> Literal["mean", "mean_with_special"]:
    """Returns how sentence-transformers pools, if the folder says that it does."""
    said = storage.read_json(os.path.join(folder, "1_Pooling", "config.json")) or {}
    return "mean_with_special" if said.get("pooling_mode_mean_tokens") else "mean"


def _recipe(directory: Directory, tokenizer: WordPieceTokenizer, name: str) -> ImportedRecipe:
    family, rows = directory.family, directory.vocabulary_size
    if tokenizer.vocabulary_size() > rows:
        raise InteropError(
            f"{directory.path}: the tokenizer has {tokenizer.vocabulary_size()} pieces, the weights have "
            f"{rows} rows: they do not belong together"
        )
    model = family.read_model(directory.config)
    with directory.tensors() as tensors:
        objective = family.objective(tensors)
    length = min(model.longest or _LONGEST, _LONGEST)
    if objective.predictions > length:
        objective = objective.model_copy(update={"max_predictions": length})
    try:
        return ImportedRecipe(
            name=name,
            imported_from=f"{family.model_type} in Hugging Face's format",
            tokenizer=WordPieceTokenizerConfig(
                vocabulary_size=rows,
                lowercase=tokenizer.lowercase,
                max_word_characters=tokenizer.max_word_characters,
            ),
            sequences=Sequences(length=length),
            objective=objective,
            model=model,
            export=Export(pooling=_pooling(directory.path)),
        )
    except ValueError as error:
        raise InteropError(f"{directory.path}: {error}") from error
