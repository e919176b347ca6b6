"""Presets: recipes kept as YAML, a folder for each family and a file for each size."""

import functools
import importlib.resources

from firth.recipes.reading.families import in_order

_FOLDER = importlib.resources.files("firth.recipes").joinpath("presets")


def preset_names() -> tuple[str, ...]:
    """Returns the names of the presets, by family and from small to large.

    Example:

    >>> preset_names()[0], "bert_mini" in preset_names()
    ('demo', True)
    """
    return in_order(_paths())


def preset_path(name: str) -> str:
    """Returns the path of a preset's file, from the folder of this package's recipes.

    Args:
        name: Name of a preset, `<family>_<size>`, or `<family>` for a family of one.

    Example:

    >>> preset_path("t5_1_1_base"), preset_path("demo")
    ('presets/t5_1_1/base.yaml', 'presets/demo/demo.yaml')
    """
    return f"presets/{_paths()[name]}"


def read_preset(name: str) -> str:
    """Returns the YAML of a preset as it is written.

    Args:
        name: Name of a preset.

    Example:

    >>> print(read_preset("bert_large").splitlines()[1])
    extends: bert_base
    """
    return _FOLDER.joinpath(_paths()[name]).read_text(encoding="utf-8")


@functools.cache
def _paths() -> dict[str, str]:
    """Returns {name: path in the folder of presets}."""
    found = {}
    for family in _FOLDER.iterdir():
        for file in family.iterdir() if family.is_dir() else ():
            if file.name.endswith(".yaml"):
                size = file.name.removesuffix(".yaml")
                name = family.name if size == family.name else f"{family.name}_{size}"
                found[name] = f"{family.name}/{file.name}"
    return found
