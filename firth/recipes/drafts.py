"""Drafts: what files and options say of a recipe before it is checked, and who said it."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from firth.recipes.errors import RecipeError
from firth.recipes.yaml_text import Located, Path, parse_value


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where a value was said: a place in a file or an option, and in which layer (later ones win)."""

    place: str
    layer: int = 0


@dataclasses.dataclass(frozen=True)
class Draft:
    """Values, and the origin of each path in them."""

    data: Any
    origins: dict[Path, Origin]

    def origin(self, path: Path) -> Origin:
        """Returns where a path, or else the nearest part around it, was said."""
        while path not in self.origins:
            path = path[:-1]
        return self.origins[path]


def draft_of(located: Located, file: str) -> Draft:
    """Returns what one file says; what no line of it says is said by the file."""
    origins = {path: Origin(place) for path, place in located.places.items()}
    return Draft(located.data, {**origins, (): Origin(file)})


def overlay(base: Draft, top: Draft) -> Draft:
    """Returns the base with everything that the top says.

    Mappings are merged key by key, unless they are of different `kind`s; anything else replaces.
    """
    return Draft(_merge(base.data, top.data), _layered(base, top.origins))


def override(base: Draft, option: str) -> Draft:
    """Returns the base with one `key.path=value` on top; a number in the path counts in a list.

    Another `kind` than before starts that mapping anew, as in `overlay`.

    Raises:
        RecipeError: if the option cannot be read or its path leads through a plain value.

    Example:

    >>> base = Draft({"training": {"steps": 5}}, {(): Origin("a.yaml")})
    >>> override(base, "training.steps=500").data
    {'training': {'steps': 500}}
    """
    place = f"--set {option}"
    key, equals, text = option.partition("=")
    path = tuple(key.strip().split("."))
    if not equals or not all(path):
        raise RecipeError([f"{place}: write it as key=value, such as training.steps=500"])
    try:
        value = parse_value(text)
        data = _assign(base.data, path, value)
    except RecipeError as error:
        raise RecipeError([f"{place}: {problem}" for problem in error.problems]) from None
    created = {path[:depth] for depth in range(1, len(path))} - base.origins.keys()
    said = created | {(*path, *below) for below in _paths(value)}
    return Draft(data, _layered(base, dict.fromkeys(said, Origin(place))))


def _layered(base: Draft, origins: dict[Path, Origin]) -> dict[Path, Origin]:
    layer = 1 + max(origin.layer for origin in base.origins.values())
    return {**base.origins, **{path: Origin(origin.place, layer) for path, origin in origins.items()}}


def _merge(base: Any, top: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(top, dict):
        return top
    if top.get("kind", base.get("kind")) != base.get("kind"):
        return top
    return {**base, **{key: _merge(base.get(key), value) for key, value in top.items()}}


def _assign(data: Any, path: Path, value: Any) -> Any:
    if not path:
        return _merge(data, value)
    key, rest = path[0], path[1:]
    if isinstance(data, list):
        if not key.isdecimal() or int(key) >= len(data):
            raise RecipeError([f"{key}: no place in a list of {len(data)}, counted from 0"])
        return [_assign(item, rest, value) if index == int(key) else item for index, item in enumerate(data)]
    if data is None or isinstance(data, dict):
        assigned = {**(data or {}), key: _assign((data or {}).get(key), rest, value)}
        # What was said of one kind means nothing to another.
        changes_kind = key == "kind" and assigned[key] != (data or {}).get(key, value)
        return {key: assigned[key]} if changes_kind else assigned
    raise RecipeError([f"{key}: leads below a plain value, {data!r}"])


def _paths(value: Any) -> Iterator[Path]:
    yield ()
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from ((str(key), *below) for below in _paths(item))
