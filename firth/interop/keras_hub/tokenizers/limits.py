"""What KerasHub's tokenizers cannot be told."""

from typing import Any

from firth.interop.errors import InteropError


def require_ours(key: str, found: Any, wanted: Any) -> None:
    """Passes if a setting of ours is the only one that KerasHub's classes have.

    Args:
        key: Key of the recipe's `tokenizer`.
        found: Value of ours.
        wanted: Value of theirs.

    Raises:
        InteropError: if it is another one.
    """
    if found != wanted:
        raise InteropError(f"tokenizer.{key}: {found!r} cannot be expressed by KerasHub, {wanted!r} can")
