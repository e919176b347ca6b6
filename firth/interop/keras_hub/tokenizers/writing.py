"""Writes a tokenizer for a preset."""

from typing import Any

import keras_hub

from firth.interop.errors import InteropError
from firth.interop.keras_hub.tokenizers.roles import renamed, require_ours
from firth.interop.keras_hub.tokenizers.tokenizer_classes import CLASSES

NEAR = "near"


def tokenizer_to_write(tokenizer: Any, name: str, wanted: str | None) -> tuple[Any, tuple[str, ...]]:
    """Returns a tokenizer as KerasHub's class has it, or None if the class reads texts otherwise, and a note.

    Args:
        tokenizer: Tokenizer of a bundle.
        name: Name of KerasHub's class.
        wanted: `near` to write one that reads some texts otherwise; None to leave it out.

    Raises:
        InteropError: if one is wanted that the class cannot say at all, or something else is wanted.
    """
    if wanted not in (None, NEAR):
        raise InteropError(f"tokenizer: {wanted!r} is not known; {NEAR!r} is, and to leave it out")
    try:
        theirs = written_tokenizer(tokenizer, name)
    except InteropError as error:
        if wanted == NEAR:
            raise
        return None, (f"left out, the tokenizer: {error}",)
    reads = CLASSES[name].reads_otherwise(name, tokenizer)
    if not reads:
        return theirs, ()
    if wanted == NEAR:
        return theirs, (f"{reads}: ids of texts that have them differ",)
    return None, (f"left out, the tokenizer: {reads}; --option tokenizer={NEAR} writes it all the same",)


def written_tokenizer(tokenizer: Any, name: str) -> Any:
    """Returns a tokenizer as KerasHub's class has it.

    Its special pieces get the names that the class has for their roles; the class finds no others in text,
    and leaves the spaces before them.

    Args:
        tokenizer: Tokenizer of a bundle.
        name: Name of KerasHub's class.

    Raises:
        InteropError: if the class cannot say the tokenizer.
    """
    if name not in CLASSES:
        raise InteropError(f"tokenizer.kind: {tokenizer.kind!r}: KerasHub's {name} cannot be written")
    kind, made = CLASSES[name], getattr(keras_hub.tokenizers, name)
    require_ours("kind", tokenizer.kind, kind.ours.kind)
    if tokenizer.settings.get("normalization"):
        raise InteropError("cleaning: KerasHub's tokenizers bring texts to no form before they read them")
    arguments = kind.arguments(tokenizer, renamed(tokenizer, made(None)))
    try:
        return made(**arguments)
    except ValueError as error:
        raise InteropError(f"KerasHub's {name}: {error}") from error
