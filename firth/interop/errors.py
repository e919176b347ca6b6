"""The error of what cannot be brought in or out."""

import os

from firth import storage


class InteropError(ValueError):
    """A model, a tokenizer or a file that cannot be expressed on the other side."""


def check_folder(path: str, download: str = "") -> None:
    """Passes if there is a folder of a model."""
    if storage.is_folder(path):
        return
    from firth.recipes.base.paths import suggest_path

    at = "" if "://" in path or os.path.isabs(path) else f" in {os.getcwd()}"
    advice = f"; nothing is downloaded: {download}" if download else ""
    raise InteropError(f"there is no folder {path}{at}{suggest_path(path)}{advice}")
