"""Bytes that every JSON text has which is valid by a schema."""

from collections.abc import Iterable, Mapping
from typing import Any

from firth.constraints.schemas import resolve

_OF_TYPES = {"object": b"{}", "array": b"[]", "string": b'"', "null": b"nul", "boolean": b"e"}


def needed_bytes(schema: Any) -> list[int]:
    """Returns bytes that every text has which is valid by a schema; not all of them.

    Args:
        schema: The schema, which the gate has let through.

    Example:

    >>> bytes(needed_bytes({"anyOf": [{"type": "object"}, {"const": {"a": [1]}}]}))
    b'{}'
    """
    return sorted(_of_schema(schema, schema, {}))


def _of_schema(schema: Any, root: Any, references: dict[str, set[int]]) -> set[int]:
    if not isinstance(schema, Mapping):
        return set()
    parts = [_of_schema(each, root, references) for each in schema.get("allOf", ())]
    for key in ("anyOf", "oneOf"):
        parts.append(_in_all(_of_schema(each, root, references) for each in schema.get(key, ())))
    if "$ref" in schema:
        target = schema["$ref"]
        if target not in references:
            # Inside itself it adds nothing.
            references[target] = set()
            references[target] = _of_schema(resolve(root, target, "#"), root, references)
        parts.append(references[target])
    if "enum" in schema:
        parts.append(_in_all(map(_of_value, schema["enum"])))
    if "const" in schema:
        parts.append(_of_value(schema["const"]))
    types = schema.get("type", ())
    parts.append(
        _in_all(set(_OF_TYPES.get(each, b"")) for each in ([types] if isinstance(types, str) else types))
    )
    if types == "object" and schema.get("required"):
        parts.append(set(b'":'))
        own = schema.get("properties", {})
        parts += [_of_schema(own.get(each), root, references) for each in schema["required"]]
    return set().union(*parts)


def _of_value(value: Any) -> set[int]:
    match value:
        case bool():
            return set(b"true" if value else b"false")
        case None:
            return set(b"null")
        case str():
            return set(b'"')
        case Mapping():
            return set(b'{}":' if value else b"{}").union(*map(_of_value, value.values()))
        case list() | tuple():
            return set(b"[]").union(*map(_of_value, value))
    return set()


def _in_all(sets: Iterable[set[int]]) -> set[int]:
    found = list(sets)
    return set.intersection(*found) if found else set()
