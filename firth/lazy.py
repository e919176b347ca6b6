"""Packages that load on first use, so that importing one does not load what it never needs."""

import importlib
from collections.abc import Callable, Collection
from typing import Any

import lazy_loader


def attach_stub(
    package: str, file: str, deferred: Collection[str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Returns `__getattr__`, `__dir__` and `__all__` of a package (PEP 562), as its stub says.

    The stub is the `.pyi` next to the package's `__init__.py`, which type checkers and editors read too. Each
    line of it says where names live: `from .optimizers import AdamW as AdamW`.

    Raises:
        ValueError: if there is no stub, or it imports from elsewhere than the package.

    Example:

    >>> import firth.tokenizers
    >>> firth.tokenizers.train_wordpiece.__module__
    'firth.tokenizers.training.word_piece'
    >>> firth.tokenizers.train_wordpeice
    Traceback (most recent call last):
    ...
    AttributeError: module 'firth.tokenizers' has no attribute 'train_wordpeice'; did you mean
    'train_wordpiece'?
    """
    find, list_names, names = lazy_loader.attach_stub(package, file)
    for name in () if deferred is None else sorted({*names} - {*deferred}):
        find(name)

    def find_name(name: str) -> Any:
        if name not in names:
            said = f"module {package!r} has no attribute {name!r}{_suggestion(name, names)}"
            # With the name and no object Python suggests nothing of its own, which not every shell shows.
            raise AttributeError(said, name=name)
        return find(name)

    return find_name, list_names, names


def import_extra(error: type[Exception], extra: str, *modules: str) -> tuple[Any, ...]:
    """Returns modules of packages that an extra installs.

    Example:

    >>> import_extra(ValueError, "onnx", "no_such_module")
    Traceback (most recent call last):
    ValueError: No module named 'no_such_module': pip install 'firth[onnx]' brings it
    """
    try:
        return tuple(importlib.import_module(module) for module in modules)
    except ImportError as cause:
        raise error(f"{cause}: pip install 'firth[{extra}]' brings it") from cause


def _suggestion(name: str, names: list[str]) -> str:
    # Only an error needs it.
    import difflib

    close = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
