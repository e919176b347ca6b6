"""Checks of texts that have been written against a JSON Schema."""

import functools
import json
import os
from collections.abc import Mapping
from typing import Any

from firth import storage
from firth.constraints.matcher import ConstraintError
from firth.constraints.schemas import check_reference, check_schema, parse_schema
from firth.lazy import import_extra

# Validators that a process keeps.
_KEPT = 64
# Keywords with values that are no schemas.
_DATA = ("enum", "const", "default", "examples")
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
        ConstraintError: for an invalid schema, with the JSON Pointer of the part, and for a reference to
            elsewhere, since nothing is fetched.
    """
    return _validator(json.dumps(schema))


@functools.lru_cache(_KEPT)
def _validator(text: str) -> Any:
    schema = json.loads(text)
    check_schema(schema)
    _check_references(schema, schema, "#")
    (library,) = import_extra(ConstraintError, "structured", "jsonschema")
    draft = library.Draft202012Validator
    return draft(schema, format_checker=draft.FORMAT_CHECKER)


def _check_references(root: Any, part: Any, path: str) -> None:
    if isinstance(part, Mapping):
        for key, value in part.items():
            place = f"{path}/{key}"
            if key == "$ref" and isinstance(value, str):
                check_reference(root, value, place)
            elif key in _MOVING and isinstance(value, str) and place != "#/$id":
                raise ConstraintError(f"{place}: unsupported: references are from the root of the schema")
            elif key not in _DATA:
                _check_references(root, value, place)
    elif isinstance(part, list):
        for number, each in enumerate(part):
            _check_references(root, each, f"{path}/{number}")


def is_valid_json(text: str, schema: Mapping[str, Any] | bool) -> bool:
    """Returns true if a text is JSON that is valid by a schema.

    A text is not JSON if an object in it has a key twice, or if a number is `NaN` or `Infinity`.

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
        # The text is no JSON, is nested too deep, or has a number that no float holds.
        return False
