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
from firth.recipes.run.recipe import Recipe


def recipe_schema() -> dict[str, Any]:
    """Returns the JSON Schema (raw 2020-12) of a recipe file.

    Next to the recipe's own keys a file may have `extends`; what it then leaves out comes from there.

    Example:

    >>> recipe_schema()["properties"]["extends"]["anyOf"][0]["enum"][0]
    'demo'
    """
    schema = _with_kinds_optional(Recipe.model_json_schema())
    extends = {
        "description": "Start from this preset or file: mappings are merged key by key, lists replace.",
        "anyOf": [{"enum": list(preset_names())}, {"pattern": r"/|\.ya?ml$", "type": "string"}],
        "title": "Extends",
    }
    schema["properties"] = {EXTENDS: extends, **schema["properties"]}
    schema["properties"][BASE]["anyOf"].insert(0, {"type": "string"})
    # It is written out when the base is looked up.
    schema["$defs"]["Base"]["required"].remove("digest")
    schema["$defs"]["Threshold"]["properties"]["metric"]["enum"] = metric_names()
    # A file is named after itself where it gives no name, and a preset brings sources.
    del schema["required"]
    schema["anyOf"] = [{"required": ["sources"]}, {"required": [EXTENDS]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def metric_names() -> list[str]:
    """Returns the names of the metrics of all objectives, whatever their switches, in alphabetical order.

    Example:

    >>> [name for name in metric_names() if name.startswith("sop")]
    ['sop_accuracy']
    """
    objectives = configs_in(Recipe.model_fields["objective"].annotation)
    return sorted({name for each in objectives for name in _metric_names_of(each)})


def _metric_names_of(objective: type[pydantic.BaseModel]) -> Iterator[str]:
    """Yields the metrics of an objective under each combination of its switches that is allowed."""
    switches = [name for name, field in objective.model_fields.items() if field.annotation is bool]
    for values in itertools.product((True, False), repeat=len(switches)):
        try:
            made: Any = objective(**dict(zip(switches, values)), kind=kinds_of(objective)[0])
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


def schema_text() -> str:
    """Returns the schema as the text of `recipe.schema.json`."""
    return json.dumps(recipe_schema(), indent=2, ensure_ascii=False) + "\n"
