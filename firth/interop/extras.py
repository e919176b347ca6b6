"""Packages that only some formats need."""

import importlib
from typing import Any

from firth.interop.errors import InteropError


def import_extra(extra: str, *modules: str) -> tuple[Any, ...]:
    """Returns modules of packages that an extra installs.

    Args:
        extra: Name of the extra.
        *modules: Names of the modules.

    Raises:
        InteropError: if one cannot be imported, with the command that installs the extra.

    Example:

    >>> import_extra("onnx", "no_such_module")
    Traceback (most recent call last):
    firth.interop.errors.InteropError: No module named 'no_such_module': pip install 'firth[onnx]' brings it
    """
    try:
        return tuple(importlib.import_module(module) for module in modules)
    except ImportError as error:
        raise InteropError(f"{error}: pip install 'firth[{extra}]' brings it") from error
