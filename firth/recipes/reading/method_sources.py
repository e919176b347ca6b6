"""Adapters that a method starts from: found by name or path, told apart by their content, and checked."""

import os
from typing import Any

from firth import storage
from firth.recipes.base.errors import RecipeError
from firth.recipes.base.file_names import NamesFiles, absolute
from firth.recipes.reading.bundles import NoBundleError, bundle_in, digest_of_bundle, find_bundle
from firth.recipes.reading.raw_recipes import RawRecipe
from firth.recipes.tuning.method import Method

_ADAPTER, _DESCRIPTION = "adapter", "adapter.json"
_SOURCE, _DIGEST = ("method", "source"), ("method", "source_digest")


class MethodSourceError(ValueError):
    """A method cannot start from the adapter that it names."""


def with_source(said: Any, kind: type[Method], raw: RawRecipe, root: str) -> Any:
    """Returns a method's plain value with the folder and the digest of the adapter that it starts from.

    Args:
        said: Plain value of the method.
        kind: Type of the method.
        raw: Values of the recipe, with their places.
        root: Folder of all runs, where a source is looked up by name.

    Raises:
        RecipeError: if there is no such adapter, with the place of the value.
    """
    source = said.get("source") if kind.takes_source and isinstance(said, dict) else None
    if not isinstance(source, str) or not source:
        return said
    origin = raw.origin(_SOURCE)
    try:
        if os.sep in source:
            folder = _adapter_in(absolute(source, origin.folder, NamesFiles(is_folder=True)))
        else:
            folder = _next_to(find_bundle(source, root))
    except NoBundleError as error:
        raise RecipeError([f"{origin.place}: method.source: {error}"]) from None
    # A source that was said after the digest has one of its own.
    known = said.get("source_digest") if raw.origin(_DIGEST).layer >= origin.layer else None
    return {**said, "source": folder, "source_digest": known or digest_of_bundle(folder)}


def _adapter_in(folder: str) -> str:
    return folder if storage.exists(os.path.join(folder, _DESCRIPTION)) else _next_to(bundle_in(folder))


def _next_to(bundle: str) -> str:
    folder = os.path.join(os.path.dirname(bundle), _ADAPTER)
    if not storage.exists(os.path.join(folder, _DESCRIPTION)):
        raise NoBundleError(f"{bundle} has no {_ADAPTER} next to it: its method is not saved alone")
    return folder


def check_source(method: Any, base: str) -> None:
    """Passes if a method starts from no adapter, or from one of the same method and base that fits it.

    Args:
        method: The recipe's method.
        base: Digest of the recipe's base.

    Raises:
        MethodSourceError: if the adapter cannot be read, is another one than the recipe was read with,
            belongs to another base, with both digests, or does not fit the method.
    """
    if not method.takes_source or not method.source:
        return
    place = f"method.source: {method.source}"
    try:
        said = storage.read_json(os.path.join(method.source, _DESCRIPTION))
        of_base, other = said["base"], said["recipe"]["method"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MethodSourceError(f"{place} has no {_DESCRIPTION} of a run: {error!r}") from error
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
