"""The error of what cannot be brought in or out."""

import os
from typing import Any

from firth import storage
from firth.lazy import import_extra as import_any_extra


class InteropError(ValueError):
    """A model, a tokenizer or a file that cannot be expressed on the other side."""


def check_folder(path: str, download: str = "") -> None:
    """Passes if there is a folder of a model."""
    if storage.is_folder(path):
        return
    from firth.recipes.base.file_names import suggest_path

    at = "" if "://" in path or os.path.isabs(path) else f" in {os.getcwd()}"
    advice = f"; nothing is downloaded: {download}" if download else ""
    raise InteropError(f"there is no folder {path}{at}{suggest_path(path)}{advice}")


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
