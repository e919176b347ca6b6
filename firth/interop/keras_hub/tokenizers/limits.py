"""What KerasHub's tokenizers cannot be told."""

from typing import Any

from firth.interop.errors import InteropError


def require_ours(key: str, found: Any, wanted: Any) -> None:
    """Passes if a setting of ours is the only one that KerasHub's classes have."""
    if found != wanted:
        raise InteropError(f"tokenizer.{key}: {found!r} cannot be expressed by KerasHub, {wanted!r} can")
