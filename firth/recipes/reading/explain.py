"""Turns pydantic's errors into lines with a place, a key and the nearest valid name."""

import re

import pydantic

from firth.recipes.base.problems import problems_of
from firth.recipes.base.recipe_type import Config
from firth.recipes.base.yaml_text import Path
from firth.recipes.reading.raw_recipes import RawRecipe

_NAMED_KEYS = re.compile(r"([a-z][a-z_0-9]*(?:\.[A-Za-z0-9][\w-]*)*):")


def explain(error: pydantic.ValidationError, raw: RawRecipe, root: type[Config]) -> list[str]:
    """Returns one line for each problem: `place: key: problem`."""
    found, more = problems_of(error, raw.data, root)
    lines = [_line(raw, path, problem) for path, problem in found]
    return lines + ([f"and {more} more problems"] if more else [])


def _line(raw: RawRecipe, path: Path, problem: str) -> str:
    """Returns a problem with the place of the last-set key that it names."""
    named = [(*path, *key.split(".")) for key in _NAMED_KEYS.findall(problem)]
    # Names that others have chosen, such as those of features, may hold any character.
    below = [key for key in raw.origins if key[: len(path)] == tuple(path)]
    named += [key for key in below if problem.startswith(f"{'.'.join(key[len(path) :])}:")]
    said = [raw.origins[key] for key in named if key in raw.origins]
    origin = max(said, key=lambda origin: origin.layer, default=raw.origin(path))
    key = f"{'.'.join(path)}: " if path else ""
    return f"{origin.place}: {key}{problem}"
