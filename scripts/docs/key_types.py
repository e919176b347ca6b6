"""Types, bounds and defaults of keys in words, from their JSON Schema."""

import json
from typing import Any

Schema = dict[str, Any]
# The address of each recipe type's section.
Links = dict[str, str]

DEFS = "#/$defs/"
_WORDS = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "`true` or `false`",
    "null": "`null`",
}
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} of them",
    "maxItems": "at most {} of them",
}


def type_in_words(value: Schema, links: Links) -> str:
    """Returns the values that a key takes, as Markdown.

    Args:
        value: The JSON Schema of the key.
        links: The address of each recipe type's section; types without one are named without a link.

    Example:

    >>> type_in_words({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}, {})
    'integer, at least 1 or `null`'
    >>> type_in_words({"type": "array", "items": {"$ref": "#/$defs/Stage"}}, {"Stage": "training.md#stage"})
    'list of [mapping](training.md#stage)'
    """
    if "$ref" in value:
        return _linked("mapping", value["$ref"], links)
    if "discriminator" in value:
        kinds = value["discriminator"]["mapping"].items()
        return f"kind {', '.join(_linked(f'`{kind}`', ref, links) for kind, ref in kinds)}"
    if "anyOf" in value:
        return " or ".join(type_in_words(part, links) for part in value["anyOf"])
    if "enum" in value:
        return " or ".join(f"`{choice}`" for choice in value["enum"])
    if "const" in value:
        return _text_or_code(value["const"])
    return ", ".join([_plain(value, links), *_bounds(value)])


def default_in_words(value: Schema) -> str:
    """Returns the default of a key that is not required, as Markdown.

    Args:
        value: The JSON Schema of the key.

    Example:

    >>> default_in_words({"default": [{"kind": "normalize", "form": "NFC"}, {"kind": "length"}]})
    '`normalize`, `length`'
    >>> default_in_words({"default": "linear"}), default_in_words({"default": None})
    ('`linear`', '`null`')
    """
    if "default" not in value:
        return "follows from the other keys"
    default = value["default"]
    if isinstance(default, dict) and default:
        return f"kind `{default['kind']}`" if "discriminator" in value else "its own defaults"
    if isinstance(default, list) and default and isinstance(default[0], dict):
        return ", ".join(f"`{each['kind']}`" if "kind" in each else _flow(each) for each in default)
    return _text_or_code(default)


def _plain(value: Schema, links: Links) -> str:
    if value["type"] == "array":
        parts = value.get("prefixItems", [value.get("items", {})])
        return f"list of {', '.join(type_in_words(part, links) for part in parts)}"
    if value["type"] == "object":
        (values,) = value.get("patternProperties", {"": value.get("additionalProperties")}).values()
        return "JSON object" if values is True else f"mapping of names to {type_in_words(values, links)}"
    return _WORDS[value["type"]]


def _bounds(value: Schema) -> list[str]:
    bounds = [text.format(_number(value[key])) for key, text in _BOUNDS.items() if key in value]
    return [*bounds, *([f"matching `{value['pattern']}`"] if "pattern" in value else [])]


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _linked(text: str, reference: str, links: Links) -> str:
    name = reference.removeprefix(DEFS)
    return f"[{text}]({links[name]})" if name in links else text


def _flow(value: Schema) -> str:
    parts = [f"{key}: {json.dumps(each)}" for key, each in value.items() if each is not None]
    return f"`{{{', '.join(parts)}}}`"


def _text_or_code(value: Any) -> str:
    return f"`{value}`" if value and isinstance(value, str) else _code(value)


def _code(value: Any) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`"
