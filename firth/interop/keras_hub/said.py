"""One way to say a model, and its weights, of the several that a recipe has."""

from collections.abc import Iterator, Mapping
from typing import Any

from firth.interop.hugging_face.config_fields import whole_values
from firth.interop.hugging_face.rules import Array

# What acts in training alone: weights that are there already need no start.
_IN_TRAINING = ("dropout", "initializer", "initializer_stddev")
_UNUSED, _SEGMENTS = "positions.unused", "embeddings.segments"
_TABLES = ("position/table", "segment/table")


def plain_values(model: Any, folds_segments: bool, in_training: bool = False) -> dict[str, Any]:
    """Returns the values of a model by path; two models that compute the same alike have the same ones.

    What a recipe leaves to be computed is stated, and rows of a table that are never read do not count.
    """
    values = dict(_flat(whole_values(model)))
    if _UNUSED in values:
        values[_UNUSED] = 0
    if folds_segments and values.get(_SEGMENTS) == 1:
        values[_SEGMENTS] = 0
    if "share_layers" in values:
        del values["share_layers"]
        values |= {"share_layers.groups": model.layers, "share_layers.blocks": 1}
    return {
        path: value
        for path, value in values.items()
        if in_training or not path.rpartition(".")[2].endswith(_IN_TRAINING)
    }


def plain_weights(weights: Mapping[str, Array], model: Any, folds_segments: bool) -> dict[str, Array]:
    """Returns the weights of a model as `plain_values` says it."""
    unused = dict(_flat(model.model_dump())).get(_UNUSED, 0)
    plain = {
        path: weight[unused:] if path.endswith(_TABLES[0]) else weight for path, weight in weights.items()
    }
    if folds_segments and model.embeddings.segments == 1:
        positions, segments = (f"backbone/embeddings/{table}" for table in _TABLES)
        plain[positions] = plain[positions] + plain.pop(segments)
    return plain


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
