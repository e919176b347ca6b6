"""Folders of models of other libraries, known by their files; `firth import` makes bundles of them."""

import os
from collections.abc import Iterable

from firth import storage

SIGNS: dict[str, tuple[tuple[str, str], ...]] = {
    "hf": (("config.json", "model_type"),),
    "keras": (("config.json", "registered_name"),),
    "elmo": (("*options*.json", ""), ("*weights*.hdf5", "")),
    "tensorflow": (("*.index", ""),),
}
"""By the name on the command line, the patterns of files that tell a folder of a format, each with a key that
the file's JSON has, or with none."""


def has_signs(folder: str, signs: tuple[tuple[str, str], ...]) -> bool:
    """Returns true if a folder has files by which a format is known."""
    return bool(signs) and all(_has_sign(folder, *sign) for sign in signs)


def how_to_import(folder: str) -> str:
    """Returns the command that makes a bundle of a folder, in words; empty if it is of no known format."""
    for name, signs in SIGNS.items():
        if has_signs(folder, signs):
            return f"{import_command(name, folder)} makes one of it, and NAME is its name then"
    return ""


def import_command(name: str, path: str, options: Iterable[str] = ()) -> str:
    """Returns the command that imports a folder of a format, with some of its options, in backticks.

    Example:

    >>> import_command("tensorflow", "bert", ["config"])
    '`firth import tensorflow bert --name NAME --config CONFIG`'
    """
    given = "".join(f" --{each} {each.upper()}" for each in options)
    return f"`firth import {name} {path} --name NAME{given}`"


def _has_sign(folder: str, pattern: str, key: str) -> bool:
    found = storage.glob(os.path.join(folder, pattern))
    return bool(found) and (not key or key in storage.read_json_object(found[0]))
