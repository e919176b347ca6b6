"""The bundle that a model goes out from."""

import contextlib
import os
from collections.abc import Collection, Iterator

from firth import storage
from firth.interop.errors import InteropError
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import (
    RECIPE_FILE,
    TOKENIZER_FOLDER,
    BundleError,
    load_model,
    open_weights,
    read_recipe,
    untrained_weights,
)
from firth.recipes.base.errors import first_of
from firth.recipes.run.run_recipe import RunRecipe

# What lets heads go out that are as a seed made them.
UNTRAINED = "untrained"


def open_bundle(bundle: str | os.PathLike[str]) -> tuple[BackboneWithHeads, RunRecipe]:
    """Returns the model of a bundle, in float32, and its recipe."""
    with _told(bundle):
        recipe = read_recipe(bundle)
        if recipe.goal_key == "task":
            raise InteropError(
                f"{bundle} is the model of a task, whose head this format has no place for; "
                "--format hf writes what is below the head"
            )
        return load_model(bundle, dtype="float32"), recipe


def recipe_of(bundle: str | os.PathLike[str]) -> RunRecipe:
    """Returns the recipe of a bundle, whose weights are not read."""
    with _told(bundle):
        recipe = read_recipe(bundle)
    if recipe.trained_by.extends_model:
        raise InteropError(
            f"{os.fspath(bundle)} has additions of method.kind: {recipe.trained_by.kind}, which do not "
            "merge, and other formats have no place for them"
        )
    return recipe


def untrained_heads(bundle: str | os.PathLike[str], wanted: str | None) -> frozenset[str]:
    """Returns the paths of weights of heads that do not go out, since nobody has trained them."""
    if wanted not in (None, UNTRAINED):
        raise InteropError(f"heads: {wanted!r} is not known; {UNTRAINED!r} is, and to leave those out")
    if wanted == UNTRAINED:
        return frozenset()
    with open_weights(bundle) as file:
        return frozenset(path for path in untrained_weights(file) if path.startswith("heads/"))


def about_untrained(left_out: Collection[str]) -> tuple[str, ...]:
    """Returns a note about heads that did not go out."""
    names = sorted({"/".join(path.split("/")[:2]) for path in left_out})
    if not names:
        return ()
    return (
        f"left out, since nobody has trained them, and they are random: {first_of(names)}; --option "
        f"heads={UNTRAINED} writes them all the same",
    )


def require_trained(left_out: Collection[str]) -> None:
    """Passes if there is no head that nobody has trained, where a format has no model without heads."""
    if left_out:
        raise InteropError(
            f"{min(left_out)}: nobody has trained it, so that what the model writes is random; --option "
            f"heads={UNTRAINED} writes it all the same"
        )


@contextlib.contextmanager
def _told(bundle: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except (BundleError, storage.NotWholeError) as error:
        raise InteropError(f"{os.fspath(bundle)} is not a model bundle: {error}") from error


def copy_sources(bundle: str | os.PathLike[str], folder: str) -> None:
    """Copies a bundle's recipe and tokenizer to a folder."""
    storage.copy_file(os.path.join(bundle, RECIPE_FILE), os.path.join(folder, RECIPE_FILE))
    storage.copy_folder(os.path.join(bundle, TOKENIZER_FOLDER), os.path.join(folder, TOKENIZER_FOLDER))
