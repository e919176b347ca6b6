"""The gate of JSON Schemas: what is read is honoured, and everything else is refused by its place."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from firth.constraints.formats import FORMATS
from firth.constraints.matcher import ConstraintError
from firth.constraints.patterns import plain_pattern
from firth.lazy import import_extra
from firth.recipes.base.errors import suggest

MOST_BYTES, MOST_DEPTH = 2**20, 64

# Keywords whose values are schemas: one, a list, or one by name.
_ONE = ("items", "additionalProperties")
_LIST = ("prefixItems", "allOf", "anyOf", "oneOf")
_NAMED = ("properties", "patternProperties", "$defs", "definitions")
_BOUNDS = (
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minimum", "maximum"),
)
_PLAIN = (
    *("type", "enum", "const", "required", "pattern", "format", "multipleOf", "$ref"),
    *("exclusiveMinimum", "exclusiveMaximum", *(each for pair in _BOUNDS for each in pair)),
)
SUPPORTED = tuple(sorted({*_ONE, *_LIST, *_NAMED, *_PLAIN}))
"""Keywords that hold a text while it is written."""
# Keywords of the draft that llguidance does not have. Any other name that it does not know it ignores.
_UNSUPPORTED = (
    *("not", "if", "then", "else", "contains", "minContains", "maxContains", "uniqueItems", "propertyNames"),
    *("dependentRequired", "dependentSchemas", "dependencies", "unevaluatedItems", "unevaluatedProperties"),
    *("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$vocabulary", "additionalItems"),
)
_ANNOTATIONS = (
    *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"),
    *("$schema", "$id", "id", "$anchor", "contentEncoding", "contentMediaType", "contentSchema"),
)
# Control characters without an escape of two characters.
_UNWRITTEN = re.compile(r"[\x00-\x07\x0b\x0e-\x1f\x7f]")
# Formats that llguidance writes exactly; those of `FORMATS` are patterns of ours.
_EXACT_FORMATS = ("duration", "email", "ipv4", "ipv6", "uri")


def _is_kept(value: float | int) -> bool:
    """Returns true for a number that is itself where it is written with all its digits and read again."""
    if isinstance(value, float) and not value.is_integer():
        return True
    return -(2**63) <= value < 2**64


def is_annotation(key: str) -> bool:
    """Returns true for a key of a schema that does not say which values are valid.

    Example:

    >>> is_annotation("title"), is_annotation("x-unit"), is_annotation("titel")
    (True, True, False)
    """
    # llguidance reads its own settings in the last one.
    return key in _ANNOTATIONS or (key.startswith("x-") and key != "x-guidance")


def parse_schema(text: str | bytes, name: str = "schema") -> Any:
    """Returns the schema of a JSON text.

    Args:
        text: The text.
        name: Name of the file, for errors.

    Raises:
        ConstraintError: if it is larger than 1 MB, is no JSON, or has a key twice in an object.
    """
    if len(text) > MOST_BYTES:
        raise ConstraintError(f"{name}: it has {len(text):,} bytes, more than {MOST_BYTES:,}")

    def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            key = next(key for place, (key, _) in enumerate(pairs) if key in dict(pairs[:place]))
            raise ConstraintError(f"{name}: the key {key!r} is twice in one object")
        return found

    def refuse(constant: str) -> Any:
        raise ConstraintError(f"{name}: {constant} is no JSON")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except RecursionError:
        raise ConstraintError(f"{name}: it is nested deeper than {MOST_DEPTH}") from None
    except UnicodeDecodeError as error:
        raise ConstraintError(f"{name}: it is not UTF-8 from byte {error.start} on") from None
    except json.JSONDecodeError as error:
        raise ConstraintError(f"{name}:{error.lineno}: it is no JSON: {error.msg}") from None


def checked_schema(schema: Any, problem_of_pattern: Callable[[str], str]) -> Any:
    """Returns a schema as llguidance is to read it: formats that it writes inexactly are patterns of ours.

    Args:
        schema: The schema (draft 2020-12).
        problem_of_pattern: Function from a regular expression to the reason why it cannot be followed, or "".

    Raises:
        ConstraintError: for an invalid schema, and for all that would be ignored or followed inexactly,
            with the JSON Pointer of the part.
    """
    check_schema(schema)
    return _Gate(schema, problem_of_pattern).part(schema, "#")


def check_schema(schema: Any) -> None:
    """Refuses what the draft does not allow as a schema, and what is nested too deep.

    Raises:
        ConstraintError: with the JSON Pointer of the part.
    """
    check_depth(schema, "#")
    _check_draft(schema)


def check_depth(value: Any, path: str) -> None:
    """Refuses what is nested too deep, and texts that are no Unicode."""
    waiting = [(value, path, 0)]
    while waiting:
        value, path, depth = waiting.pop()
        if depth > MOST_DEPTH:
            raise ConstraintError(f"{path[:200]}: it is nested deeper than {MOST_DEPTH}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ConstraintError(f"{path}: {value} cannot be written as a JSON number")
        if isinstance(value, str) and any("\ud800" <= each <= "\udfff" for each in value):
            raise ConstraintError(f"{path}: a text with half a surrogate pair can be written in no UTF-8")
        if isinstance(value, Mapping):
            waiting += [(str(key), path, depth) for key in value]
            waiting += [(each, f"{path}/{pointer_token(str(key))}", depth + 1) for key, each in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(each, f"{path}/{place}", depth + 1) for place, each in enumerate(value)]


def _check_draft(schema: Any) -> None:
    """Refuses what the draft does not allow as a schema."""
    (library,) = import_extra(ConstraintError, "structured", "jsonschema")
    errors = library.Draft202012Validator(library.Draft202012Validator.META_SCHEMA).iter_errors(
        _plain(schema)
    )
    error = library.exceptions.best_match(errors)
    if error is not None:
        path = "/".join(["#", *(pointer_token(str(each)) for each in error.absolute_path)])
        raise ConstraintError(f"{path}: {error.message[:200]}")


class _Gate:
    """Reads one schema."""

    def __init__(self, root: Any, problem_of_pattern: Callable[[str], str]) -> None:
        self._root, self._problem_of_pattern = root, problem_of_pattern

    def part(self, schema: Any, path: str) -> Any:
        """Returns a part of the schema."""
        if not isinstance(schema, Mapping):
            return schema
        self._check_names(schema, path)
        for least, most in _BOUNDS:
            if least in schema and most in schema and schema[least] > schema[most]:
                above = f"{least} {schema[least]} is above {most} {schema[most]}"
                raise ConstraintError(f"{path}/{least}: {above}: nothing is valid")
        if schema.get("enum") == []:
            raise ConstraintError(f"{path}/enum: it is empty: nothing is valid")
        for key in ("enum", "const", "properties", "required"):
            self._check_characters(schema.get(key), f"{path}/{key}", key == "properties")
        self._check_pattern_properties(schema, path)
        if "$anchor" in schema or ("$id" in schema and path != "#"):
            name = "$anchor" if "$anchor" in schema else "$id"
            raise ConstraintError(f"{path}/{name}: unsupported: references are from the root of the schema")
        if "minProperties" in schema and schema["minProperties"] > len(schema.get("required", ())):
            # A key that comes twice would count twice.
            raise ConstraintError(f"{path}/minProperties: unsupported where fewer properties are required")
        if "$ref" in schema:
            check_reference(self._root, schema["$ref"], f"{path}/$ref")
        found = {
            key: self._value(key, value, path) for key, value in schema.items() if not is_annotation(key)
        }
        return self._with_format(found, path)

    @staticmethod
    def _check_names(schema: Mapping[str, Any], path: str) -> None:
        for key in schema:
            if key in _UNSUPPORTED:
                raise ConstraintError(
                    f"{path}/{pointer_token(key)}: unsupported keyword: no text is held to it here"
                )
            if key not in SUPPORTED and not is_annotation(key):
                raise ConstraintError(
                    f"{path}/{pointer_token(key)}: unknown keyword; {suggest(key, SUPPORTED)}"
                )

    def _value(self, key: str, value: Any, path: str) -> Any:
        path = f"{path}/{pointer_token(key)}"
        if key in _ONE:
            return self.part(value, path)
        if key in _LIST:
            return [self.part(each, f"{path}/{place}") for place, each in enumerate(value)]
        if key in _NAMED:
            # Keys of one are patterns.
            is_pattern = key == "patternProperties"
            parts = {name: self.part(each, f"{path}/{pointer_token(name)}") for name, each in value.items()}
            return {
                self._pattern(name, f"{path}/{pointer_token(name)}") if is_pattern else name: each
                for name, each in parts.items()
            }
        if key == "pattern":
            return self._pattern(value, path)
        # llguidance reads no 2.0, which is a whole number as well.
        return int(value) if isinstance(value, float) and _is_count(key) else value

    @classmethod
    def _check_characters(cls, value: Any, path: str, is_names: bool = False) -> None:
        """Refuses texts with characters that JSON writes as six characters alone, which are not written.

        And numbers that llguidance writes with all their digits, of which readers keep fewer.
        """
        if isinstance(value, float | int) and not _is_kept(value):
            raise ConstraintError(f"{path}: {value} is a whole number of more digits than readers keep")
        if isinstance(value, str) and (found := _UNWRITTEN.search(value)):
            raise ConstraintError(f"{path}: the character {found[0]!r} is not written in JSON here")
        if isinstance(value, Mapping):
            for name, each in value.items():
                cls._check_characters(name, path)
                if not is_names:
                    cls._check_characters(each, f"{path}/{pointer_token(name)}")
        elif isinstance(value, list | tuple):
            for place, each in enumerate(value):
                cls._check_characters(each, f"{path}/{place}")

    def _pattern(self, pattern: str, path: str) -> str:
        """Returns a pattern in llguidance's syntax, whose sets and classes differ from ECMA's."""
        made = plain_pattern(pattern, path)
        if problem := self._problem_of_pattern(made):
            raise ConstraintError(f"{path}: {problem}")
        return made

    @staticmethod
    def _check_pattern_properties(schema: Mapping[str, Any], path: str) -> None:
        for pattern in schema.get("patternProperties", {}):
            place = f"{path}/patternProperties/{pointer_token(pattern)}"
            try:
                expression = re.compile(pattern)
            except re.error as error:
                raise ConstraintError(f"{place}: the regular expression is not valid: {error}") from None
            for name in schema.get("properties", {}):
                if expression.search(name):
                    raise ConstraintError(
                        f"{place}: it matches {name!r} of properties, of which only one would be followed"
                    )

    @staticmethod
    def _with_format(schema: dict[str, Any], path: str) -> dict[str, Any]:
        name = schema.get("format")
        if name is None or name in _EXACT_FORMATS:
            return schema
        if name not in FORMATS:
            known = sorted({*FORMATS, *_EXACT_FORMATS})
            raise ConstraintError(f"{path}/format: {name!r} is unsupported; {suggest(str(name), known)}")
        if "pattern" in schema:
            raise ConstraintError(f"{path}/format: unsupported next to pattern")
        rest = {key: value for key, value in schema.items() if key != "format"}
        return {**rest, "pattern": f"^(?:{FORMATS[name]})$"}


def check_reference(root: Any, target: Any, path: str) -> None:
    """Refuses a reference to elsewhere, to nothing, and one that leads to itself.

    Args:
        root: The schema.
        target: The reference.
        path: JSON Pointer of the reference, for errors.
    """
    seen: list[str] = []
    while True:
        if not isinstance(target, str) or not (target == "#" or target.startswith("#/")):
            raise ConstraintError(f"{path}: {target!r} is not in this schema: only # and #/... are read")
        if target in seen:
            raise ConstraintError(f"{path}: {target!r} leads to itself: no text is valid by it")
        seen.append(target)
        found = resolve(root, target, path)
        first = target.split("/")[1:2]
        if first and first[0] not in (*_ONE, *_LIST, *_NAMED):
            raise ConstraintError(f"{path}: {target!r} is no part of the schema that texts are held to")
        if not isinstance(found, Mapping) or "$ref" not in found:
            return
        target = found["$ref"]


def resolve(root: Any, target: str, path: str) -> Any:
    """Returns the part of a schema that a reference names.

    Args:
        root: The schema.
        target: The reference, `#` or `#/...`.
        path: JSON Pointer of the reference, for errors.

    Raises:
        ConstraintError: if there is no such part, with the nearest name.
    """
    found = root
    for token in target.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        known: Mapping[str, Any] = (
            found
            if isinstance(found, Mapping)
            else {str(place): each for place, each in enumerate(_items(found))}
        )
        if key not in known:
            raise ConstraintError(f"{path}: there is nothing at {target}; {suggest(key, list(known))}")
        found = known[key]
    return found


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _is_count(key: str) -> bool:
    return key.startswith(("min", "max")) and key not in ("minimum", "maximum")


def _plain(value: Any) -> Any:
    """Returns JSON with lists and dictionaries, which is what jsonschema reads."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def pointer_token(key: str) -> str:
    """Returns a key as a token of a JSON Pointer.

    Example:

    >>> pointer_token("a/b~c")
    'a~1b~0c'
    """
    return key.replace("~", "~0").replace("/", "~1")
