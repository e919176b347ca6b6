"""Presets: recipes kept as YAML, a file for each family, with what its sizes share and each size below.

A size starts from the shared values of its file, or from the preset that it `extends`. A file's text is cut
at its sizes, so that only the parts of one preset are parsed: `sizes:` is the last key of the file, and each
size is indented by two.
"""

import functools
import importlib.resources
import re
from typing import NamedTuple

from firth.recipes.base.yaml_text import Located, read_yaml
from firth.recipes.reading.families import in_order

_FOLDER = importlib.resources.files("firth.recipes").joinpath("presets")
_SIZES = "\nsizes:\n"
_SIZE = re.compile(r"^  (\w+):", re.ASCII | re.MULTILINE)


class _Size(NamedTuple):
    """A size of a family.

    Attributes:
        family: Name of the family.
        size: Name of the size.
        start: Offset of its first line in the family's file.
        stop: Offset of the line after its last one.
    """

    family: str
    size: str
    start: int
    stop: int


def preset_names() -> tuple[str, ...]:
    """Returns the names of the presets, by family and from small to large.

    Example:

    >>> preset_names()[0], "bert_mini" in preset_names()
    ('demo', True)
    """
    return tuple(_presets())


def family_of_preset(name: str) -> str:
    """Returns the name of the family whose file has a preset.

    Example:

    >>> family_of_preset("t5_1_1_base"), family_of_preset("demo")
    ('t5_1_1', 'demo')
    """
    return _presets()[name].family


def family_path(family: str) -> str:
    """Returns the path of a family's file, from the folder of this package's recipes."""
    return f"presets/{family}.yaml"


def read_shared(family: str) -> Located:
    """Returns the values that the sizes of a family share, and their places.

    Example:

    >>> read_shared("albert").data["extends"]
    'bert_base'
    """
    return read_yaml(_families()[family].partition(_SIZES)[0], family_path(family))


def read_size(name: str) -> Located:
    """Returns the values of a preset that its size adds to the shared ones, and their places.

    Example:

    >>> read_size("bert_large").data["model"]
    {'layers': 24, 'width': 1024, 'attention': {'heads': 16}}
    """
    family, size, start, stop = _presets()[name]
    text = _families()[family]
    # Empty lines before the size keep the numbers of its lines in places.
    located = read_yaml("\n" * text.count("\n", 0, start) + text[start:stop], family_path(family))
    return Located(located.data[size], {path[1:]: place for path, place in located.places.items() if path})


@functools.cache
def _presets() -> dict[str, _Size]:
    """Returns the sizes by the names of their presets, in the order of `preset_names`."""
    found = {}
    for family, text in _families().items():
        keys = [*_SIZE.finditer(text, text.index(_SIZES))]
        stops = [*(key.start() for key in keys[1:]), len(text)]
        for key, stop in zip(keys, stops, strict=True):
            name = family if key[1] == family else f"{family}_{key[1]}"
            found[name] = _Size(family, key[1], key.start(), stop)
    return {name: found[name] for name in in_order(found)}


@functools.cache
def _families() -> dict[str, str]:
    """Returns the text of each family's file."""
    files = [file for file in _FOLDER.iterdir() if file.name.endswith(".yaml")]
    return {file.name.removesuffix(".yaml"): file.read_text(encoding="utf-8") for file in files}
