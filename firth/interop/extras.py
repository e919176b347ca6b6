"""Packages that only some formats need."""

from typing import Any

from firth.interop.errors import InteropError
from firth.lazy import import_extra as import_any_extra


def import_extra(extra: str, *modules: str) -> tuple[Any, ...]:
    """Returns modules of packages that an extra installs.

    Raises:
        InteropError: if one cannot be imported, with the command that installs the extra.

    Example:

    >>> import_extra("onnx", "no_such_module")
    Traceback (most recent call last):
    firth.interop.errors.InteropError: No module named 'no_such_module': pip install 'firth[onnx]' brings it
    """
    return import_any_extra(InteropError, extra, *modules)
