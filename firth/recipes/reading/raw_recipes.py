"""Text of recipe files, and values of files and options before they are checked, each with its origin."""

import dataclasses
import difflib
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

from firth.recipes.base.errors import RecipeError
from firth.recipes.base.yaml_text import MAX_BYTES, Located, Path, parse_value

SUFFIXES = (".yaml", ".yml")


@dataclasses.dataclass(frozen=True)
class Origin:
    """Place where a value of a recipe is stated.

    Attributes:
        place: Place in a file, `file:line:column`, or an option.
        layer: Number of the file or option among those that were merged, from 0; higher ones win.
        folder: Folder of the file; None for a preset or an option.
        of_preset: True if a preset says it.
    """

    place: str
    layer: int = 0
    folder: pathlib.Path | None = None
    of_preset: bool = False


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of the command line that sets a value of a recipe.

    Attributes:
        key: Key, with dots between the parts of its path.
        value: Dicts, lists and scalars.
        place: Option as it was given, for errors.
    """

    key: str
    value: Any
    place: str

    @classmethod
    def read(cls, assignment: str, place: str) -> "Option":
        """Returns the option of a text `key.path=value`, whose value is YAML."""
        key, equals, text = assignment.partition("=")
        key = key.strip()
        if not equals or not all(key.split(".")):
            raise RecipeError([f"{place}: write it as key=value, such as training.steps=500"])
        try:
            return cls(key, parse_value(text), place)
        except RecipeError as error:
            raise RecipeError([f"{place}: {problem}" for problem in error.problems]) from None


@dataclasses.dataclass(frozen=True)
class RawRecipe:
    """Values, and the origin of each path in them.

    Attributes:
        data: Dicts, lists and scalars, not yet checked.
        origins: Origins by path of keys and indices; the empty path has one.
    """

    data: Any
    origins: dict[Path, Origin]

    def origin(self, path: Path) -> Origin:
        """Returns the origin of a path, or of the nearest part around it."""
        while path not in self.origins:
            path = path[:-1]
        return self.origins[path]


def raw_recipe_of(located: Located, file: str, folder: pathlib.Path | None = None) -> RawRecipe:
    """Returns the values of one file. The origin of what no line says is the file."""
    of_preset = folder is None
    origins = {path: Origin(place, 0, folder, of_preset) for path, place in located.places.items()}
    return RawRecipe(located.data, {**origins, (): Origin(file, 0, folder, of_preset)})


def overlay(base: RawRecipe, top: RawRecipe) -> RawRecipe:
    """Returns the base with everything that the top says.

    Mappings are merged key by key, unless they are of different `kind`s; any other value is replaced.
    """
    kept = _not_below(base.origins, set(_replaced(base.data, top.data)))
    return RawRecipe(_merge(base.data, top.data), _layered(kept, top.origins))


def override(base: RawRecipe, option: str | Option) -> RawRecipe:
    """Returns the base with one `key.path=value` on top; a number in the path counts in a list.

    Another `kind` than before starts that mapping again, as in `overlay`.

    Example:

    >>> base = RawRecipe({"training": {"steps": 5}}, {(): Origin("a.yaml")})
    >>> override(base, "training.steps=500").data
    {'training': {'steps': 500}}
    """
    if isinstance(option, str):
        option = Option.read(option, f"--set {option}")
    path, value = tuple(option.key.split(".")), option.value
    try:
        data = assign(base.data, path, value)
    except RecipeError as error:
        raise RecipeError([f"{option.place}: {problem}" for problem in error.problems]) from None
    created = {path[:depth] for depth in range(1, len(path))} - base.origins.keys()
    said = created | {(*path, *below) for below in _paths(value)}
    kept = base.origins if isinstance(value, dict) else _not_below(base.origins, {path})
    return RawRecipe(data, _layered(kept, dict.fromkeys(said, Origin(option.place))))


def override_all(base: RawRecipe | None, options: Sequence[str | Option]) -> RawRecipe:
    """Returns a recipe with all options on top."""
    raw = RawRecipe({}, {(): Origin("the options")}) if base is None else base
    problems: list[str] = []
    for option in options:
        try:
            raw = override(raw, option)
        except RecipeError as error:
            problems += error.problems
    if problems:
        raise RecipeError(problems)
    return raw


def _layered(base: dict[Path, Origin], top: dict[Path, Origin]) -> dict[Path, Origin]:
    layer = 1 + max(origin.layer for origin in base.values())
    return {**base, **{path: dataclasses.replace(origin, layer=layer) for path, origin in top.items()}}


def _not_below(origins: dict[Path, Origin], replaced: set[Path]) -> dict[Path, Origin]:
    """Returns the origins without those of parts that something else replaces."""
    return {
        path: origin
        for path, origin in origins.items()
        if not any(path[:depth] in replaced for depth in range(1, len(path)))
    }


def _merge(base: Any, top: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(top, dict):
        return top
    if top.get("kind", base.get("kind")) != base.get("kind"):
        return top
    return {**base, **{key: _merge(base.get(key), value) for key, value in top.items()}}


def _replaced(base: Any, top: Any, path: Path = ()) -> Iterator[Path]:
    """Yields the paths at which `_merge` takes the top's value in place of the base's."""
    merged = isinstance(base, dict) and isinstance(top, dict)
    if not merged or top.get("kind", base.get("kind")) != base.get("kind"):
        yield path
    else:
        for key in base.keys() & top.keys():
            yield from _replaced(base[key], top[key], (*path, key))


def assign(data: Any, path: Path, value: Any) -> Any:
    """Returns data with a value merged in at a path; lists and mappings that change are new ones."""
    if not path:
        return _merge(data, value)
    key, rest = path[0], path[1:]
    if isinstance(data, list):
        if not key.isdecimal() or int(key) >= len(data):
            raise RecipeError([f"{key}: no place in a list of {len(data)}, counted from 0"])
        return [assign(item, rest, value) if index == int(key) else item for index, item in enumerate(data)]
    if data is None or isinstance(data, dict):
        assigned = {**(data or {}), key: assign((data or {}).get(key), rest, value)}
        # Values set for one kind do not apply to another.
        changes_kind = key == "kind" and assigned[key] != (data or {}).get(key, value)
        return {key: assigned[key]} if changes_kind else assigned
    raise RecipeError([f"{key}: leads below a plain value, {data!r}"])


def _paths(value: Any) -> Iterator[Path]:
    yield ()
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from ((str(key), *below) for below in _paths(item))


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
