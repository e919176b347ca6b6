"""Names of presets: by family and from small to large, and the nearest one to a name that no preset has."""

import difflib
import functools
import importlib.resources
import re
from collections.abc import Iterable
from typing import NamedTuple

from firth.recipes.base.yaml_text import Located, read_yaml

# In the order of publication; a family's presets are named `<family>` or `<family>_<size>`.
FAMILIES = (
    "demo",
    "elmo",
    "bert",
    "roberta",
    "spanbert",
    "albert",
    "electra",
    "deberta_v3",
    "modernbert",
    "xlnet",
    "gpt_1",
    "gpt2",
    "gpt3",
    "llama",
    "llama_1",
    "llama_2",
    "llama_3_1",
    "llama_3_2",
    "qwen_3",
    "prefix_lm",
    "unilm",
    "t5",
    "t5_1_1",
    "t5_ssm",
    "t5_1_1_ssm",
    "t5_ablation",
    "bart",
)

# Sizes that are words; those that are numbers (`2_7b`) stand after them.
_SIZES = (
    "tiny",
    "mini",
    "xsmall",
    "small",
    "medium",
    "",
    "base",
    "original",
    "large",
    "xl",
    "xlarge",
    "xxl",
    "xxlarge",
)


def family_of(name: str) -> str:
    """Returns the family of a preset: the longest family name that its name begins with, or its own name.

    Example:

    >>> family_of("t5_1_1_base"), family_of("t5_11b"), family_of("my_model")
    ('t5_1_1', 't5', 'my_model')
    """
    fitting = [family for family in FAMILIES if f"{name}_".startswith(f"{family}_")]
    return max(fitting, key=len, default=name)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Returns names of presets by family and size.

    Example:

    >>> in_order(["t5_11b", "bert_large", "t5_3b", "bert_base", "t5_base"])
    ('bert_base', 'bert_large', 't5_base', 't5_3b', 't5_11b')
    """
    return tuple(sorted(names, key=_key))


def _key(name: str) -> tuple[int, float, str]:
    family = family_of(name)
    size = name.removeprefix(family).removeprefix("_")
    place = FAMILIES.index(family) if family in FAMILIES else len(FAMILIES)
    return place, _rank(size), name


def _rank(size: str) -> float:
    if size in _SIZES:
        return _SIZES.index(size)
    billions = size.removesuffix("b").replace("_", ".")
    is_number = size.endswith("b") and billions.replace(".", "", 1).isdecimal()
    return len(_SIZES) + (float(billions) if is_number else 0.0)


def suggest_preset(given: str, names: Iterable[str]) -> str:
    """Returns a hint: the presets of a family, the nearest name, or the command that lists all presets.

    Example:

    >>> known = ["bert_base", "bert_large", "xlnet_base"]
    >>> suggest_preset("berd_base", known), suggest_preset("bert", known)
    ('did you mean bert_base?', 'did you mean one of: bert_base, bert_large?')
    >>> suggest_preset("transformer", known)
    '`firth recipes` lists them'
    """
    members: dict[str, list[str]] = {}
    for name in in_order(names):
        for family in {family_of(name), family_of(name).split("_")[0]}:
            members.setdefault(family, []).append(name)
    meant = members | {name: [name] for family in members.values() for name in family}
    near = [given] if given in meant else difflib.get_close_matches(given, meant, n=1, cutoff=0.6)
    if not near:
        return "`firth recipes` lists them"
    found = meant[near[0]]
    return f"did you mean {'one of: ' if len(found) > 1 else ''}{', '.join(found)}?"


_FOLDER = importlib.resources.files("firth.recipes").joinpath("presets")
_SIZES_PRESETS = "\nsizes:\n"
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
    return read_yaml(_families()[family].partition(_SIZES_PRESETS)[0], family_path(family))


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
        keys = [*_SIZE.finditer(text, text.index(_SIZES_PRESETS))]
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
