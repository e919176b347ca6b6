"""The share of texts that are JSON which is valid by a schema."""

import hashlib
import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from typing import Any

from firth.scores.inputs import mean_over_pairs

Schema = str | Mapping[str, Any] | bool


def is_schema_valid(reference: Any, prediction: str, schema: Schema) -> float:
    """Returns 1 if a text is JSON that is valid by a schema, else 0.

    A text that is not JSON, or that has a key twice in one object, is not valid.

    Args:
        reference: Any value but None; it is not read.
        prediction: The text.
        schema: JSON Schema (draft 2020-12), whose formats are checked, or the path of its file.

    Raises:
        firth.constraints.matcher.ConstraintError: for an invalid schema, and where the extra `structured` is
            not installed.

    Example:

    >>> [is_schema_valid("", text, {"type": "integer"}) for text in ("12", '"12"', "12 or so")]
    [1.0, 0.0, 0.0]
    """
    from firth.constraints.validity import is_valid_json, read_schema

    return float(is_valid_json(prediction, read_schema(schema)))


def schema_valid(references: Sequence[Any], predictions: Sequence[str], schema: Schema) -> float:
    """Returns the share of texts that are JSON which is valid by a schema; 0 of no examples.

    Args:
        references: Any values but None, one for each text; they are not read.
        predictions: The texts.
        schema: JSON Schema (draft 2020-12), or the path of its file.

    Raises:
        ValueError: as `check_pairs` says, and as `is_schema_valid` does.
    """
    from firth.constraints.validity import read_schema

    found = read_schema(schema)
    return mean_over_pairs(
        lambda reference, prediction: is_schema_valid(reference, prediction, found), references, predictions
    )


def schema_signature(references: Sequence[Any], schema: Schema) -> str:
    """Returns the version of jsonschema and the SHA-256 of a schema, of which two equal ones have the same.

    Args:
        references: References of the examples; they are not read.
        schema: The schema, or the path of its file.
    """
    from firth.constraints.validity import read_schema

    canonical = json.dumps(read_schema(schema), sort_keys=True)
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return f"jsonschema:{importlib.metadata.version('jsonschema')}|schema:{digest}"
