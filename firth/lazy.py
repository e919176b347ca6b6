"""Packages whose names load on first use, so that importing one does not load what it never needs."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Returns a module's `__getattr__` (PEP 562) that finds each name in the submodule it lives in.

    Args:
        package: The package's `__name__`.
        homes: Public name to submodule.

    Example:

    >>> find = lazy_names("firth.tokenizers", {"train_wordpiece": "training.word_piece"})
    >>> find("train_wordpiece").__module__
    'firth.tokenizers.training.word_piece'
    >>> find("train_bpe")
    Traceback (most recent call last):
    ...
    AttributeError: module 'firth.tokenizers' has no attribute 'train_bpe'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    return find
