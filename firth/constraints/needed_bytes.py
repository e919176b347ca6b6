"""Bytes that every valid text has."""

from collections.abc import Iterable, Mapping
from typing import Any

from firth.constraints.automaton import build_automaton, constraint_regex
from firth.constraints.matcher import ConstraintError
from firth.constraints.schemas import resolve
from firth.constraints.token_bytes import TokenBytes
from firth.recipes.generation.constraints import Constraint

# Larger automata are not looked at: the text may end as stuck then.
_MOST_SECONDS = 5

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


def check_expression(constraint: Constraint, tokens: TokenBytes) -> None:
    """Refuses a regular expression, or choices, if the vocabulary lacks bytes that every valid text needs.

    Nothing is refused where no automaton of it is made in a few seconds, and of schemas and grammars.

    Args:
        constraint: The constraint.
        tokens: Bytes of the model's tokens.

    Raises:
        ConstraintError: for bytes that no token writes, naming them.
    """
    lacking = tokens.lacking
    if not lacking or not (constraint.texts or constraint.expression):
        return
    try:
        automaton = build_automaton(constraint_regex(constraint), _MOST_SECONDS)
    except ConstraintError:
        return
    if automaton.can_avoid(lacking):
        return
    needed = {byte for byte in lacking if (automaton.transitions[:, automaton.classes[byte]] >= 0).any()}
    for byte in sorted(needed):
        if not automaton.can_avoid(needed - {byte}):
            needed.remove(byte)
    if len(needed) == 1:
        tokens.check(needed)
    named = " or ".join(repr(bytes([byte])) for byte in sorted(needed))
    raise ConstraintError(f"the vocabulary has no piece with {named}, of which every valid text needs one")


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
