"""The JSON Schema of recipe files, for editors that complete and check YAML."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pydantic

from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.reading.bases import BASE
from firth.recipes.reading.families import preset_names
from firth.recipes.reading.loading import EXTENDS
from firth.recipes.run.adapting import UNCHOSEN_VALUES
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.run_recipe import RunRecipe

_START = "Start from this{} file: mappings are merged key by key, lists replace."


def recipe_schema(recipe: type[RunRecipe] = Recipe) -> dict[str, Any]:
    """Returns the JSON Schema (raw 2020-12) of the files of a kind of recipe.

    Next to the recipe's own keys a file may have `extends`; what it then leaves out comes from there.

    Args:
        recipe: Type of the recipes.

    Example:

    >>> recipe_schema()["properties"]["extends"]["anyOf"][0]["enum"][0]
    'demo'
    """
    schema = _with_kinds_optional(recipe.model_json_schema())
    # Presets are recipes that pre-train.
    presets = [{"enum": list(preset_names())}] if recipe is Recipe else []
    extends = {
        "description": _START.format(" preset or" if presets else ""),
        "anyOf": [*presets, {"pattern": r"/|\.ya?ml$", "type": "string"}],
        "title": "Extends",
    }
    schema["properties"] = {EXTENDS: extends, **schema["properties"]}
    _allow_a_name(schema["properties"][BASE])
    # It is written out when the base is looked up.
    schema["$defs"]["Base"]["required"].remove("digest")
    _name_metrics(schema["$defs"]["Threshold"]["properties"]["metric"], recipe)
    for key, source in recipe.counted_keys.items():
        _refuse(schema, key, source)
    for config, part in [
        (recipe, schema),
        *((goal, schema["$defs"][goal.__name__]) for goal in _goals(recipe)),
    ]:
        for key in config.derived_keys:
            part["properties"].get(key, {}).pop("default", None)
    # The recipe that is extended may bring the rest.
    needed = [key for key in schema.pop("required") if key not in recipe.derived_keys]
    schema["anyOf"] = [{"required": needed}, {"required": [EXTENDS]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _allow_a_name(base: dict[str, Any]) -> None:
    """Lets a base be its name alone."""
    if "$ref" in base:
        base["anyOf"] = [{"$ref": base.pop("$ref")}]
    base["anyOf"].insert(0, {"type": "string"})


def _name_metrics(metric: dict[str, Any], recipe: type[RunRecipe]) -> None:
    """Lists the metrics of thresholds; with scores, which a recipe chooses, there are others too."""
    names = {"enum": metric_names(recipe)}
    has_scores = any("scores" in goal.model_fields for goal in _goals(recipe))
    metric.update({"anyOf": [names, {"type": "string"}]} if has_scores else names)


def _refuse(schema: dict[str, Any], key: str, source: str) -> None:
    """Takes a counted key out of a schema, or leaves the values of it that nobody has chosen."""
    *parts, last = key.split(".")
    found = [schema]
    for part in parts:
        found = [below for each in found for below in _parts_of(each["properties"][part], schema["$defs"])]
    for each in found:
        if values := UNCHOSEN_VALUES.get(key):
            each["properties"][last] |= {
                "enum": sorted(set(values)),
                "description": f"Follows from `{source}`.",
            }
        else:
            del each["properties"][last]


def _parts_of(value: dict[str, Any], defs: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the schemas of the mappings that a key may have as its value."""
    return [defs[each["$ref"].rpartition("/")[2]] for each in value.get("anyOf", [value]) if "$ref" in each]


def metric_names(recipe: type[RunRecipe] = Recipe) -> list[str]:
    """Returns the names of the metrics of all goals, whatever their switches, in alphabetical order.

    Args:
        recipe: Type of the recipes that have these goals.

    Example:

    >>> [name for name in metric_names() if name.startswith("sop")]
    ['sop_accuracy']
    """
    return sorted({name for each in _goals(recipe) for name in _metric_names_of(each)})


def _goals(recipe: type[RunRecipe]) -> list[Any]:
    return configs_in(recipe.model_fields[recipe.goal_key].annotation)


def _metric_names_of(goal: type[pydantic.BaseModel]) -> Iterator[str]:
    """Yields the metrics of a goal under each combination of its switches that is allowed."""
    switches = [name for name, field in goal.model_fields.items() if field.annotation is bool]
    for values in itertools.product((True, False), repeat=len(switches)):
        try:
            made: Any = goal(**dict(zip(switches, values)), kind=kinds_of(goal)[0])
        except ValueError:
            continue
        yield from made.metric_names


def _with_kinds_optional(schema: Any) -> Any:
    """Returns a schema in which a part need not say its `kind`, since the preset that is extended may.

    Without it several kinds may fit, which `oneOf` would refuse.
    """
    if isinstance(schema, dict):
        parts = {key: _with_kinds_optional(value) for key, value in schema.items()}
        return {"anyOf" if key == "oneOf" else key: value for key, value in parts.items()}
    return [_with_kinds_optional(item) for item in schema] if isinstance(schema, list) else schema


def schema_text(recipe: type[RunRecipe] = Recipe) -> str:
    """Returns the schema as the text of `recipe.schema.json`, or of `adapting_recipe.schema.json`.

    Args:
        recipe: Type of the recipes.
    """
    return json.dumps(recipe_schema(recipe), indent=2, ensure_ascii=False) + "\n"
