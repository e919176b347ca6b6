"""Reads the text of recipe files."""

import difflib
import pathlib

from firth.recipes.base.errors import RecipeError
from firth.recipes.base.yaml_text import MAX_BYTES

SUFFIXES = (".yaml", ".yml")


class UnreadableFileError(RecipeError):
    """There is no such recipe file, or the file is not a recipe."""


def read_text(path: pathlib.Path) -> str:
    """Returns the text of a recipe file."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise UnreadableFileError([f"{path}: larger than a recipe may be, {MAX_BYTES:,} bytes"])
        return content.decode("utf-8")
    except FileNotFoundError:
        siblings = [entry.name for entry in path.parent.glob("*") if entry.suffix in SUFFIXES]
        near = difflib.get_close_matches(path.name, siblings, n=1)
        advice = f"; did you mean {path.with_name(near[0])}?" if near else ""
        raise UnreadableFileError([f"{path}: no such file{advice}"]) from None
    except UnicodeDecodeError as error:
        raise UnreadableFileError([f"{path}: not UTF-8 at byte {error.start}"]) from None
    except OSError as error:
        raise UnreadableFileError([f"{path}: cannot be read: {error.strerror}"]) from None
