"""A JSON Schema as a regular expression of the JSON that is valid by it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from firth.constraints.formats import FORMATS
from firth.constraints.matcher import ConstraintError
from firth.constraints.patterns import escaped, string_pattern
from firth.constraints.schemas import check_reference, check_schema, is_annotation, resolve
from firth.recipes.base.errors import suggest

# Times that a reference may be inside itself; deeper ones are left out where the schema allows it.
MOST_NESTED = 3
_MOST_CHARACTERS = 1_000_000

_OF_TYPE: Mapping[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems"}),
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "integer": frozenset(),
    "number": frozenset(),
    "boolean": frozenset(),
    "null": frozenset(),
}
"""By type, the keywords that are supported next to it."""
SUPPORTED = sorted({"type", "enum", "const", "anyOf", "$ref"}.union(*_OF_TYPE.values()))

_CHARACTER = r'(?:[^"\\\x00-\x1f\x7f]|\\["\\bfnrt])'
_INTEGER = "-?(?:0|[1-9][0-9]*)"
# More digits of the exponent would be numbers that no float holds.
_NUMBER = rf"{_INTEGER}(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]{{1,2}})?"

# A part of the regular expression; None where no text is valid.
Part = str | None


def schema_regex(schema: Mapping[str, Any] | bool, white_space: str | int = "compact") -> str:
    r"""Returns a regular expression of which each match is JSON that is valid by a schema.

    Properties come in the schema's order, and those alone that it names. What the schema allows and the
    expression does not match: other spellings of the same number or string, and references inside themselves
    more than `MOST_NESTED` times.

    Args:
        schema: The schema (draft 2020-12). Keywords that are not in `SUPPORTED` are refused.
        white_space: `compact`, `single`, or the most characters in one place.

    Raises:
        ConstraintError: for a schema that is not supported, with the JSON Pointer of the part; for one by
            which no finite text is valid.

    Example:

    >>> schema_regex({"type": "object", "properties": {"a": {"enum": [1, "x"]}}, "required": ["a"]})
    '\\{"a":(?:1|"x")\\}'
    """
    check_schema(schema)
    found = _Reader(schema, white_space).part(schema, "#", ())
    if found is None:
        raise ConstraintError("#: no finite text is valid by this schema")
    return found


class _Reader:
    """Reads one schema."""

    def __init__(self, root: Any, white_space: str | int) -> None:
        self._root, self._written = root, 0
        bounded = "" if isinstance(white_space, str) else rf"[ \t\n\r]{{0,{white_space}}}"
        after = " " if white_space == "single" else bounded
        self._open, self._comma, self._colon = bounded, f"{bounded},{after}", f"{bounded}:{after}"
        self._separators = (", ", ": ") if white_space == "single" else (",", ":")

    def part(self, schema: Any, path: str, nested: tuple[str, ...]) -> Part:
        """Returns the expression of a part of the schema.

        Args:
            path: JSON Pointer of the part.
            nested: References that it is inside of.
        """
        found = self._part(schema, path, nested)
        # What is thrown away counts too, so that the time is bounded.
        self._written += len(found or "")
        if self._written > 8 * _MOST_CHARACTERS or len(found or "") > _MOST_CHARACTERS:
            most = f"{_MOST_CHARACTERS:,} characters"
            raise ConstraintError(f"{path}: its regular expression has more than {most}")
        return found

    def _part(self, schema: Any, path: str, nested: tuple[str, ...]) -> Part:
        if not isinstance(schema, Mapping):
            if schema is False:
                return None
            raise ConstraintError(f"{path}: {_shown(schema)} lets any value through; give its type")
        keys = [key for key in schema if not is_annotation(key) and key not in ("$defs", "definitions")]
        for key in keys:
            if key not in SUPPORTED:
                raise ConstraintError(f"{path}/{_token(key)}: unsupported keyword; {suggest(key, SUPPORTED)}")
        for key, read in (("$ref", self._reference), ("anyOf", self._any_of)):
            if key in schema:
                if len(keys) > 1:
                    other = next(each for each in keys if each != key)
                    raise ConstraintError(f"{path}/{_token(other)}: unsupported next to {key}")
                return read(schema[key], f"{path}/{_token(key)}", nested)
        types = self._types(schema, path)
        if "enum" in schema or "const" in schema:
            return self._values(schema, path, keys, types)
        if not types:
            raise ConstraintError(f"{path}: it lets any value through; give its type")
        self._check_keywords(keys, path, types)
        return _either(_OF_TYPES[each](self, schema, path, nested) for each in types)

    def _types(self, schema: Mapping[str, Any], path: str) -> list[str]:
        if "type" not in schema:
            return []
        types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        if not isinstance(types, Sequence) or not types:
            raise ConstraintError(f"{path}/type: {_shown(types)} names no type")
        for each in types:
            if each not in _OF_TYPE:
                raise ConstraintError(
                    f"{path}/type: unknown type {_shown(each)}; {suggest(str(each), _OF_TYPE)}"
                )
        return list(types)

    @staticmethod
    def _check_keywords(keys: Sequence[str], path: str, types: Sequence[str]) -> None:
        known = {"type"}.union(*(_OF_TYPE[each] for each in types))
        for key in keys:
            if key not in known:
                raise ConstraintError(f"{path}/{key}: says nothing about the type {' or '.join(types)}")

    def _reference(self, target: Any, path: str, nested: tuple[str, ...]) -> Part:
        check_reference(self._root, target, path)
        if nested.count(target) >= MOST_NESTED:
            return None
        found = resolve(self._root, target, path)
        return self.part(found, target, (*nested, target))

    def _any_of(self, parts: Any, path: str, nested: tuple[str, ...]) -> Part:
        if not _is_list(parts) or not parts:
            raise ConstraintError(f"{path}: must be a list of at least one schema")
        return _either(self.part(each, f"{path}/{place}", nested) for place, each in enumerate(parts))

    def _values(
        self, schema: Mapping[str, Any], path: str, keys: Sequence[str], types: Sequence[str]
    ) -> Part:
        for key in keys:
            if key not in ("enum", "const", "type"):
                raise ConstraintError(f"{path}/{key}: unsupported next to enum and const")
        values = schema.get("enum", [schema.get("const")])
        if not _is_list(values) or not values:
            raise ConstraintError(f"{path}/enum: must be a list of at least one value")
        if "const" in schema:
            values = [each for each in values if _same(each, schema["const"])]
        if types:
            values = [each for each in values if any(_is_of(each, name) for name in types)]
        return _either(map(self._literal, values))

    def _literal(self, value: Any) -> str:
        return escaped(json.dumps(value, ensure_ascii=False, separators=self._separators, allow_nan=False))

    def _object(self, schema: Mapping[str, Any], path: str, nested: tuple[str, ...]) -> Part:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if schema.get("additionalProperties", False) is not False:
            raise ConstraintError(f"{path}/additionalProperties: only false is supported")
        if not isinstance(properties, Mapping):
            raise ConstraintError(f"{path}/properties: must be an object")
        for place, name in enumerate(required):
            if name not in properties:
                hint = suggest(str(name), properties)
                raise ConstraintError(f"{path}/required/{place}: {_shown(name)} is not in properties; {hint}")
        # From the last property to the first: what follows another one, and what comes first.
        later, first = self._open, ""
        for name, each in reversed(list(properties.items())):
            value = self.part(each, f"{path}/properties/{_token(name)}", nested)
            if value is None:
                if name in required:
                    return None
                continue
            own = f"{self._literal(name)}{self._colon}{value}"
            is_required = name in required
            first = f"{own}{later}" if is_required else _choice(f"{own}{later}", first)
            later = f"{self._comma}{own}{later}" if is_required else f"(?:{self._comma}{own})?{later}"
        return rf"\{{{self._open}{first}\}}"

    def _array(self, schema: Mapping[str, Any], path: str, nested: tuple[str, ...]) -> Part:
        least, most = _bounds(schema, path, "minItems", "maxItems")
        before = [
            self.part(each, f"{path}/prefixItems/{place}", nested)
            for place, each in enumerate(schema.get("prefixItems", []))
        ]
        if "items" in schema:
            rest = self.part(schema["items"], f"{path}/items", nested)
        elif "prefixItems" in schema or most == 0:
            rest = None
        else:
            raise ConstraintError(f"{path}: its items may be any values; give items, or prefixItems")
        if None in before:
            before, rest = before[: before.index(None)], None
        if rest is None:
            most = len(before) if most is None else min(most, len(before))
        if most is not None and least > most:
            return None
        inside = self._items([each for each in before if each is not None], rest, least, most)
        return rf"\[{self._open}{inside}\]"

    def _items(self, before: Sequence[str], rest: Part, least: int, most: int | None) -> str:
        if most == 0:
            return ""
        if most is not None:
            before = before[:most]
        missing, more = max(least - len(before), 0), None if most is None else most - len(before)
        if before:
            again = f"{self._comma}{rest}"
            inside = "" if rest is None or more == 0 else f"(?:{again}){_times(missing, more)}"
        else:
            # The first item has no comma before it.
            more = None if more is None else more - 1
            inside = f"{rest}(?:{self._comma}{rest}){_times(max(missing - 1, 0), more)}"
        for place in reversed(range(len(before))):
            comma = self._comma if place else ""
            inside = f"{comma}{before[place]}{inside}"
            if place >= least and place:
                inside = f"(?:{inside})?"
        inside += self._open
        return inside if least else f"(?:{inside})?"

    def _string(self, schema: Mapping[str, Any], path: str, nested: tuple[str, ...]) -> Part:
        named = [key for key in ("format", "pattern") if key in schema]
        if named and len({"minLength", "maxLength", "format", "pattern"} & schema.keys()) > 1:
            others = sorted({"minLength", "maxLength", "format", "pattern"} & schema.keys() - {named[0]})
            raise ConstraintError(f"{path}/{others[0]}: unsupported next to {named[0]}")
        if "format" in schema:
            name = schema["format"]
            if name not in FORMATS:
                raise ConstraintError(
                    f"{path}/format: {_shown(name)} is not known; {suggest(str(name), FORMATS)}"
                )
            return f'"{FORMATS[name]}"'
        if "pattern" in schema:
            return f'"{string_pattern(schema["pattern"], f"{path}/pattern", _CHARACTER)}"'
        least, most = _bounds(schema, path, "minLength", "maxLength")
        return None if most is not None and least > most else f'"{_CHARACTER}{_times(least, most)}"'


def _fixed(expression: str) -> Callable[..., Part]:
    return lambda reader, schema, path, nested: expression


_OF_TYPES: Mapping[str, Callable[..., Part]] = {
    "object": _Reader._object,
    "array": _Reader._array,
    "string": _Reader._string,
    "integer": _fixed(_INTEGER),
    "number": _fixed(_NUMBER),
    "boolean": _fixed("(?:true|false)"),
    "null": _fixed("null"),
}
"""By type, the function of a reader, a schema, its path and the references around it to an expression."""


def _bounds(schema: Mapping[str, Any], path: str, least: str, most: str) -> tuple[int, int | None]:
    for key in (least, most):
        value = schema.get(key, 0)
        if isinstance(value, bool) or value != int(value) or value < 0:
            raise ConstraintError(f"{path}/{key}: must be a whole number of at least 0, not {_shown(value)}")
    return int(schema.get(least, 0)), None if most not in schema else int(schema[most])


def _times(least: int, most: int | None) -> str:
    return f"{{{least},{'' if most is None else most}}}" if (least, most) != (0, None) else "*"


def _either(parts: Iterator[Part] | Any) -> Part:
    found = list(dict.fromkeys(each for each in parts if each is not None))
    if len(found) < 2:
        return found[0] if found else None
    return f"(?:{'|'.join(found)})"


def _choice(one: str, other: str) -> str:
    """Returns an expression of one part, or another, which may be empty."""
    return f"(?:{one}|{other})" if other else f"(?:{one})?"


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_of(value: Any, name: str) -> bool:
    if name == "integer":
        return isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    types: Any = {
        "null": type(None),
        "boolean": bool,
        "number": (int, float),
        "string": str,
        "array": (list, tuple),
        "object": Mapping,
    }[name]
    return isinstance(value, types) and (name == "boolean" or not isinstance(value, bool))


def _same(one: Any, other: Any) -> bool:
    """Returns whether two values are the same JSON, in which 1 differs from true."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:60]


def _token(key: str) -> str:
    """Returns a key as a token of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1")
