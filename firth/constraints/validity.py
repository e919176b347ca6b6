"""Checks of texts that have been written against a JSON Schema."""

import functools
import json
import os
import re
from collections.abc import Mapping
from typing import Any

from firth import storage
from firth.constraints.matcher import ConstraintError
from firth.constraints.schemas import check_reference, check_schema, parse_schema, pointer_token
from firth.lazy import import_extra

# Validators that a process keeps.
_KEPT = 64
# Keywords with values that are no schemas.
_DATA = ("enum", "const", "default", "examples")
# Keywords with schemas by name.
_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
# They lead out of the schema, or change what its other references are relative to.
_MOVING = ("$dynamicRef", "$dynamicAnchor", "$anchor", "$id")


def read_schema(schema: Any) -> Any:
    """Returns a schema as it is, or that of a file.

    Args:
        schema: The schema, or the path of its JSON file.

    Raises:
        ConstraintError: for a file that cannot be read or holds no JSON.
    """
    if not isinstance(schema, str | os.PathLike):
        return schema
    path = os.fspath(schema)
    try:
        return parse_schema(storage.read_text(path), path)
    except UnicodeDecodeError as error:
        raise ConstraintError(f"{path}: it is not UTF-8 from byte {error.start} on") from None
    except OSError as error:
        raise ConstraintError(f"{path}: {error.strerror or 'it cannot be read'}") from None


def validator_of(schema: Any) -> Any:
    """Returns the validator of `jsonschema` for a schema (draft 2020-12), which checks formats too.

    Args:
        schema: The schema.

    Raises:
        ConstraintError: for an invalid schema, with the JSON Pointer of the part, for a reference to
            elsewhere, since nothing is fetched, and for a pattern that Python's `re` does not read.
    """
    return _validator(json.dumps(schema))


@functools.lru_cache(_KEPT)
def _validator(text: str) -> Any:
    schema = json.loads(text)
    check_schema(schema)
    library, referencing = import_extra(ConstraintError, "structured", "jsonschema", "referencing")
    draft = library.Draft202012Validator
    _check_parts(schema)
    return draft(schema, format_checker=draft.FORMAT_CHECKER, registry=referencing.Registry())


def _check_parts(root: Any) -> None:
    """Refuses references to elsewhere and patterns that Python does not read, in all that a text meets."""
    referencing, drafts = import_extra(ConstraintError, "structured", "referencing", "referencing.jsonschema")
    resolver = referencing.Registry().resolver_with_root(drafts.DRAFT202012.create_resource(root))
    waiting, followed = [(root, "#")], set[str]()
    while waiting:
        part, path = waiting.pop()
        if isinstance(part, list):
            waiting += [(each, f"{path}/{number}") for number, each in enumerate(part)]
        if not isinstance(part, Mapping):
            continue
        for key, value in part.items():
            place = f"{path}/{pointer_token(key)}"
            if key == "$ref" and isinstance(value, str):
                check_reference(root, value, place)
                if value not in followed:
                    followed.add(value)
                    try:
                        # As jsonschema finds it, which reads %41 as A.
                        waiting.append((resolver.lookup(value).contents, value))
                    except referencing.exceptions.Unresolvable:
                        raise ConstraintError(f"{place}: there is nothing at {value}") from None
            elif key in _MOVING and isinstance(value, str) and place != "#/$id":
                raise ConstraintError(f"{place}: unsupported: references are from the root of the schema")
            elif key == "pattern" and isinstance(value, str):
                _check_pattern(value, place)
            elif key in _BY_NAME and isinstance(value, Mapping):
                # A name may be that of a keyword.
                waiting += [(each, f"{place}/{pointer_token(name)}") for name, each in value.items()]
                if key == "patternProperties":
                    for name in value:
                        _check_pattern(name, f"{place}/{pointer_token(name)}")
                    if "additionalProperties" in part:
                        # For it, jsonschema reads all of them as one.
                        _check_pattern("|".join(value), place)
            elif key not in _DATA:
                waiting.append((value, place))


def _check_pattern(pattern: str, place: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ConstraintError(f"{place}: Python does not read the regular expression: {error}") from None


def is_valid_json(text: str, schema: Mapping[str, Any] | bool) -> bool:
    """Returns true if a text is JSON that is valid by a schema.

    A text is not JSON if an object in it has a key twice, or if a number is `NaN` or `Infinity`. A text of
    more than 1 MiB is not valid by any schema.

    Args:
        text: The text; white space around the JSON is allowed.
        schema: The schema (draft 2020-12), whose formats are checked.

    Raises:
        ConstraintError: as `validator_of` does.

    Example:

    >>> schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    >>> [is_valid_json(text, schema) for text in ('{"a": 1}', '{"a": "1"}', '{"a": 1', '{"a": 1, "a": 1}')]
    [True, False, False, False]
    """
    validator = validator_of(schema)
    try:
        return bool(validator.is_valid(parse_schema(text)))
    except (ValueError, RecursionError, OverflowError):
        # The text is no JSON, is too long or nested too deep, or has a whole number of too many digits, or
        # one of which `multipleOf` cannot be computed.
        return False
