"""The reference of all keys of a recipe, made from the recipe types: `recipe_pages()`.

Types, defaults, choices and descriptions come from the JSON Schema that pydantic makes of them.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from firth.recipes import AdaptingRecipe, Recipe
from firth.recipes.base.types import configs_in
from scripts.docs.key_types import DEFS, Links, Schema, default_in_words, type_in_words

FOLDER = "reference/recipe"
_EXTENDS = """There are two kinds of recipes: those that pre-train a model, with `sources`, for `firth run`;
and those that adapt a model, with a `task`, for `firth finetune --recipe`.

A file may also begin with `extends`, the name of a preset or the path of another recipe of its kind. The
keys that the file does not give come from there. Mappings are merged key by key, lists replace. `--set` on
the command line names a key by its path, such as `--set training.optimizer.learning_rate=1e-3`.

`firth recipes --schema` and `firth recipes --schema adapting` print the JSON Schema of each kind. Editors
with YAML's language server complete and check a recipe whose first line names it, such as
`# yaml-language-server: $schema=adapting_recipe.schema.json`."""
RECIPES = {"Recipes that pre-train a model": Recipe, "Recipes that adapt a model": AdaptingRecipe}


class _Place(NamedTuple):
    """The place of a recipe type in the reference.

    Attributes:
        page: Key of the recipe that the page is of.
        key: Key that the type is the value of.
        kind: Title of the recipes that have it.
    """

    page: str
    key: str
    kind: str


def recipe_pages() -> dict[str, str]:
    """Returns the Markdown of each page of the key reference by its path in the site.

    There is a page of the recipes' own keys, and one for each of them that has keys of its own.

    Raises:
        KeyError: if there is no docstring under a field.
    """
    schemas = {kind: recipe.model_json_schema() for kind, recipe in RECIPES.items()}
    types = {config.__name__: config for recipe in RECIPES.values() for config in recipe_types(recipe)}
    defs = {name: each for schema in schemas.values() for name, each in schema["$defs"].items()}
    places = _places(schemas)
    links = {name: f"{place.page}.md#{name.lower()}" for name, place in places.items()}
    texts: dict[str, list[str]] = {}
    for name, place in places.items():
        kinds = [kind for kind, schema in schemas.items() if place.page in schema["properties"]]
        described = schemas[kinds[0]]["properties"][place.page]["description"]
        page = texts.setdefault(place.page, [f"# `{place.page}`\n\n{_only(kinds)}{described}"])
        alike = [each for each in places.values() if each == place]
        heading = _heading(defs[name], place, has_others=len(alike) > 1)
        heading += "" if place.kind == kinds[0] else f", {place.kind.lower()}"
        page.append(_section(heading, types[name], defs[name], links))
    pages = {f"{FOLDER}/{page}.md": "\n\n".join([*text, ""]) for page, text in texts.items()}
    return {f"{FOLDER}/index.md": _index(schemas, set(texts)), **pages}


def _only(kinds: list[str]) -> str:
    return "" if len(kinds) == len(RECIPES) else f"{kinds[0]} have this key. "


def recipe_types(config: type) -> Iterator[type]:
    """Yields a recipe type and all types below it, each as often as it is named.

    Args:
        config: A recipe type.
    """
    yield config
    for field in config.model_fields.values():
        for below in configs_in(field.annotation):
            yield from recipe_types(below)


def _places(schemas: dict[str, Schema]) -> dict[str, _Place]:
    """Returns the place of each type by its name, on the first page that names it."""
    places: dict[str, _Place] = {}
    for kind, schema in schemas.items():
        for page, value in schema["properties"].items():
            for name, key in _below(value, page, schema["$defs"]):
                places.setdefault(name, _Place(page, key, kind))
    return places


def _below(value: Any, key: str, defs: Schema) -> Iterator[tuple[str, str]]:
    """Yields the types that a part of the schema names, with the key that they stand under."""
    if isinstance(value, list):
        for part in value:
            yield from _below(part, key, defs)
    elif isinstance(value, dict) and "$ref" in value:
        name = value["$ref"].removeprefix(DEFS)
        yield name, key
        for below, part in defs[name]["properties"].items():
            yield from _below(part, below, defs)
    elif isinstance(value, dict):
        for word, part in value.items():
            if word not in ("discriminator", "default"):
                yield from _below(part, key, defs)


def _index(schemas: dict[str, Schema], pages: set[str]) -> str:
    sections = []
    for kind, schema in schemas.items():
        names = {key: f"[`{key}`]({key}.md)" if key in pages else f"`{key}`" for key in schema["properties"]}
        rows = _rows(schema, {}, names, RECIPES[kind].derived_keys)
        sections += [f"## {kind}", _summary(RECIPES[kind]), _table(rows)]
    return "\n\n".join(["# The recipe", _EXTENDS, *sections, ""])


def _heading(schema: Schema, place: _Place, has_others: bool) -> str:
    """Returns the heading of a type: its kind, or its key, with the keys that it alone requires."""
    kind = schema["properties"].get("kind", {}).get("const")
    if kind:
        return f"`kind: {kind}`" if place.key == place.page else f"`{place.key}.kind: {kind}`"
    required = schema.get("required", []) if has_others else []
    return f"`{place.key}` with `{'`, `'.join(required)}`" if required else f"`{place.key}`"


def _section(heading: str, config: type, schema: Schema, links: Links) -> str:
    kind = schema["properties"].get("kind", {}).get("const")
    names = {name: f"`{name}`" for name in schema["properties"] if not (kind and name == "kind")}
    rows = _rows(schema, links, names, config.derived_keys)
    table = _table(rows) if rows else "It has no keys of its own."
    return "\n\n".join([f"## {heading} {{: #{config.__name__.lower()} }}", _summary(config), table])


def _summary(config: type) -> str:
    """Returns the docstring of a type up to its first section."""
    return re.split(r"^(?:Raises|Example):$", inspect.getdoc(config) or "", flags=re.MULTILINE)[0].strip()


def _rows(schema: Schema, links: Links, names: dict[str, str], derived: Mapping[str, str]) -> list[list[str]]:
    required = schema.get("required", [])

    def default(key: str) -> str:
        if key in derived:
            return f"follows from {derived[key]}"
        return "**required**" if key in required else default_in_words(schema["properties"][key])

    return [
        [
            name,
            type_in_words(schema["properties"][key], links),
            default(key),
            schema["properties"][key]["description"],
        ]
        for key, name in names.items()
    ]


def _table(rows: list[list[str]]) -> str:
    cells = [["Key", "Type", "Default", "What it does"], ["---"] * 4, *rows]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
    return "\n".join(['<div class="keys" markdown>', "", *lines, "", "</div>"])
