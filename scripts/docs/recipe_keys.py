"""The reference of all keys of a recipe, made from the recipe types: `recipe_pages()`.

Types, defaults, choices and descriptions come from the JSON Schema that pydantic makes of them.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Any

from firth.recipes import Recipe
from firth.recipes.base.types import configs_in
from scripts.docs.key_types import DEFS, Links, Schema, default_in_words, type_in_words

FOLDER = "reference/recipe"
_EXTENDS = """A file may also begin with `extends`, the name of a preset or the path of another recipe. The
keys that the file does not give come from there. Mappings are merged key by key, lists replace. `--set` on
the command line names a key by its path, such as `--set training.optimizer.learning_rate=1e-3`."""


def recipe_pages() -> dict[str, str]:
    """Returns the Markdown of each page of the key reference by its path in the site.

    There is a page of the recipe's own keys, and one for each of them that has keys of its own.

    Raises:
        KeyError: if there is no docstring under a field.
    """
    schema = Recipe.model_json_schema()
    types = {config.__name__: config for config in recipe_types(Recipe)}
    pages, keys = _pages_and_keys(schema)
    links = {name: f"{page}.md#{name.lower()}" for page, names in pages.items() for name in names}
    written = {f"{FOLDER}/index.md": _index(schema, links)}
    for page, names in pages.items():
        title = f"# `{page}`\n\n{schema['properties'][page]['description']}"
        sections = [_section(types[name], schema["$defs"][name], keys[name], links) for name in names]
        written[f"{FOLDER}/{page}.md"] = "\n\n".join([title, *sections, ""])
    return written


def recipe_types(config: type) -> Iterator[type]:
    """Yields a recipe type and all types below it, each as often as it is named.

    Args:
        config: A recipe type.
    """
    yield config
    for field in config.model_fields.values():
        for below in configs_in(field.annotation):
            yield from recipe_types(below)


def _pages_and_keys(schema: Schema) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Returns the types of each page, each type on the first one that names it, and the key of each type."""
    pages: dict[str, list[str]] = {}
    keys: dict[str, str] = {}
    for page, value in schema["properties"].items():
        for name, key in _below(value, page, schema["$defs"]):
            if name not in keys:
                keys[name] = key
                pages.setdefault(page, []).append(name)
    return pages, keys


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


def _index(schema: Schema, links: Links) -> str:
    pages = {link.split(".")[0] for link in links.values()}
    names = {key: f"[`{key}`]({key}.md)" if key in pages else f"`{key}`" for key in schema["properties"]}
    rows = _rows(schema, {}, names)
    return "\n\n".join(["# The recipe", _summary(Recipe), _EXTENDS, _table(rows), ""])


def _section(config: type, schema: Schema, key: str, links: Links) -> str:
    kind = schema["properties"].get("kind", {}).get("const")
    heading = f"kind: {kind}" if kind else key
    names = {name: f"`{name}`" for name in schema["properties"] if not (kind and name == "kind")}
    rows = _rows(schema, links, names)
    table = _table(rows) if rows else "It has no keys of its own."
    return "\n\n".join([f"## `{heading}` {{: #{config.__name__.lower()} }}", _summary(config), table])


def _summary(config: type) -> str:
    """Returns the docstring of a type up to its first section."""
    return re.split(r"^(?:Raises|Example):$", inspect.getdoc(config) or "", flags=re.MULTILINE)[0].strip()


def _rows(schema: Schema, links: Links, names: dict[str, str]) -> list[list[str]]:
    required = schema.get("required", [])
    return [
        [
            name,
            type_in_words(schema["properties"][key], links),
            "**required**" if key in required else default_in_words(schema["properties"][key]),
            schema["properties"][key]["description"],
        ]
        for key, name in names.items()
    ]


def _table(rows: list[list[str]]) -> str:
    cells = [["Key", "Type", "Default", "What it does"], ["---"] * 4, *rows]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
    return "\n".join(['<div class="keys" markdown>', "", *lines, "", "</div>"])
