"""Adapters that a method starts from: found by name or path, identified by their content, and checked."""

import os
from typing import Any

from firth import storage
from firth.recipes.base.errors import RecipeError
from firth.recipes.base.file_names import NamesFiles, absolute
from firth.recipes.reading.bundles import NoBundleError, bundle_in, digest_of_bundle, find_bundle
from firth.recipes.reading.raw_recipes import RawRecipe
from firth.recipes.run.base import ADAPTER_FILE
from firth.recipes.tuning.method import Method

_SOURCE, _DIGEST = ("method", "source"), ("method", "source_digest")


class MethodSourceError(ValueError):
    """A method cannot start from the adapter that it names."""


def with_source(said: Any, kind: type[Method], raw: RawRecipe, root: str) -> Any:
    """Returns a method's plain value with the folder and the digest of the adapter that it starts from."""
    source = said.get("source") if kind.takes_source and isinstance(said, dict) else None
    if not isinstance(source, str) or not source:
        return said
    origin = raw.origin(_SOURCE)
    try:
        if os.sep in source:
            folder = absolute(source, origin.folder, NamesFiles(is_folder=True))
            folder = folder if is_adapter(folder) else adapter_next_to(bundle_in(folder))
        else:
            folder = adapter_next_to(find_bundle(source, root))
    except NoBundleError as error:
        raise RecipeError([f"{origin.place}: method.source: {error}"]) from None
    # A source that is stated after the digest has one of its own.
    known = said.get("source_digest") if raw.origin(_DIGEST).layer >= origin.layer else None
    return {**said, "source": folder, "source_digest": known or digest_of_bundle(folder)}


def is_adapter(folder: str) -> bool:
    """Returns whether a folder holds an adapter."""
    return storage.exists(os.path.join(folder, ADAPTER_FILE))


def adapter_next_to(bundle: str) -> str:
    """Returns the folder of the adapter that a run has saved with its bundle."""
    folder = os.path.join(os.path.dirname(bundle), storage.ADAPTER_FOLDER)
    if not is_adapter(folder):
        raise NoBundleError(f"{bundle} has no adapter next to it: its method is not saved alone")
    return folder


def check_source(method: Any, base: str) -> None:
    """Passes if a method starts from no adapter, or from one of the same method and base that fits it."""
    if not method.takes_source or not method.source:
        return
    place = f"method.source: {method.source}"
    try:
        said = storage.read_json(os.path.join(method.source, ADAPTER_FILE))
        of_base, other = said["base"], said["recipe"]["method"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MethodSourceError(f"{place} has no {ADAPTER_FILE} of a run: {error!r}") from error
    if other.get("kind") != method.kind:
        raise MethodSourceError(
            f"{place} has an adapter of method.kind: {other.get('kind')}, not {method.kind}"
        )
    if of_base != base:
        raise MethodSourceError(f"{place} belongs to the base {of_base}, and the recipe's base is {base}")
    if method.source_digest and (now := digest_of_bundle(method.source)) != method.source_digest:
        raise MethodSourceError(
            f"{place} is not the adapter that the recipe was read with: its digest is {now}, the recipe's "
            f"method.source_digest {method.source_digest}; say method.source again to start from it"
        )
    if problems := list(method.source_conflicts(other)):
        raise MethodSourceError("\n".join(problems))
