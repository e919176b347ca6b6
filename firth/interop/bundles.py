"""The bundle that a model goes out from."""

import contextlib
import os
from collections.abc import Iterator

from firth import storage
from firth.interop.errors import InteropError
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import RECIPE_FILE, TOKENIZER_FOLDER, BundleError, load_model, read_recipe
from firth.recipes.run.run_recipe import RunRecipe


def open_bundle(bundle: str | os.PathLike[str]) -> tuple[BackboneWithHeads, RunRecipe]:
    """Returns the model of a bundle, in float32, and its recipe.

    Args:
        bundle: Path of the folder that `firth.models.save_model` wrote.

    Raises:
        InteropError: if it is not a bundle, or is damaged, or its model answers a task.
    """
    with _told(bundle):
        recipe = read_recipe(bundle)
        if recipe.goal_key == "task":
            raise InteropError(
                f"{bundle} is the model of a task, whose head this format has no place for; "
                "--format hf writes what is below the head"
            )
        return load_model(bundle, dtype="float32"), recipe


def recipe_of(bundle: str | os.PathLike[str]) -> RunRecipe:
    """Returns the recipe of a bundle, whose weights are not read.

    Args:
        bundle: Path of the folder that `firth.models.save_model` wrote.

    Raises:
        InteropError: if it is not a bundle, or is damaged, or has additions of a method that does not merge,
            which other formats have no place for.
    """
    with _told(bundle):
        recipe = read_recipe(bundle)
    if recipe.trained_by.extends_model:
        raise InteropError(
            f"{os.fspath(bundle)} has additions of method.kind: {recipe.trained_by.kind}, which do not "
            "merge, and other formats have no place for them"
        )
    return recipe


@contextlib.contextmanager
def _told(bundle: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except (BundleError, storage.NotWholeError) as error:
        raise InteropError(f"{os.fspath(bundle)} is not a model bundle: {error}") from error


def copy_sources(bundle: str | os.PathLike[str], folder: str) -> None:
    """Copies a bundle's recipe and tokenizer to a folder.

    Args:
        bundle: Path of the folder that `firth.models.save_model` wrote.
        folder: Path of a local folder, which holds neither.
    """
    storage.copy_file(os.path.join(bundle, RECIPE_FILE), os.path.join(folder, RECIPE_FILE))
    storage.copy_folder(os.path.join(bundle, TOKENIZER_FOLDER), os.path.join(folder, TOKENIZER_FOLDER))
