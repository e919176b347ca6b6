"""The JSON Schema of recipe files, for editors that complete and check YAML."""

import json
from typing import Any

from firth.recipes.reading.loading import EXTENDS
from firth.recipes.reading.presets import preset_names
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
    # A file is named after itself where it gives no name, and a preset brings sources.
    del schema["required"]
    schema["anyOf"] = [{"required": ["sources"]}, {"required": [EXTENDS]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


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
