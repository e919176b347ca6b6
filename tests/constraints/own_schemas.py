"""Schemas with valid and invalid instances: leaves of each keyword, each inside other schemas."""

from collections.abc import Iterator
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A schema and instances of it.

    Attributes:
        name: Name of the leaf and of the schemas around it.
        schema: The schema.
        valid: Instances that are valid.
        invalid: Instances that are not.
    """

    name: str
    schema: Any
    valid: list[Any]
    invalid: list[Any]


_LEAVES = {
    "null": ({"type": "null"}, [None], [0, "", False]),
    "boolean": ({"type": "boolean"}, [True, False], ["true", 1, None]),
    "integer": ({"type": "integer"}, [0, -1, 12345678901234567890], [1.5, "1", True]),
    "number": ({"type": "number"}, [0, -0.5, 1e-7, 12.25], ["1", None, [1]]),
    "string": ({"type": "string"}, ["", 'a"b\\', "é中😀", "a\nb\t\b"], [1, None, ["a"]]),
    "types": ({"type": ["integer", "null"]}, [1, None], ["1", 0.5]),
    "min length": ({"type": "string", "minLength": 2}, ["ab", "中中", '""'], ["", "a", "中"]),
    "max length": ({"type": "string", "maxLength": 3}, ["", "abc", "\\\n😀"], ["abcd", "😀😀😀😀"]),
    "length": ({"type": "string", "minLength": 1, "maxLength": 2}, ["a", '"\\'], ["", "abc"]),
    "enum of texts": ({"enum": ["a", "b c", 'd"e']}, ["a", "b c", 'd"e'], ["b", "", None]),
    "enum of kinds": ({"enum": [1, "1", None, True, [1, "x"]]}, [1, "1", None, [1, "x"]], [2, "true", [1]]),
    "enum with type": ({"type": "string", "enum": ["a", 1]}, ["a"], [1, "b"]),
    "const": ({"const": {"a": [1, None]}}, [{"a": [1, None]}], [{"a": [1]}, {}, 1]),
    "pattern": ({"type": "string", "pattern": "^[a-c]+[0-9]{2}$"}, ["a00", "cab42"], ["a0", "d00", "a001"]),
    "pattern inside": ({"type": "string", "pattern": "ab"}, ["ab", "xaby"], ["a", "ba"]),
    "pattern or": ({"type": "string", "pattern": "^(x|yy)?$"}, ["", "x", "yy"], ["y", "xx"]),
    "pattern not": ({"type": "string", "pattern": '^[^"\\s]$'}, ["a", "\\", "é"], ["", '"', " ", "ab"]),
    "date": (
        {"type": "string", "format": "date"},
        ["2024-02-29", "1999-12-31"],
        ["2023-02-29", "1999-13-01"],
    ),
    "time": ({"type": "string", "format": "time"}, ["00:00:00Z", "23:59:59.5+02:00"], ["24:00:00Z", "1:00"]),
    "date-time": (
        {"type": "string", "format": "date-time"},
        ["2024-02-29T01:02:03Z"],
        ["2024-02-30T01:02:03Z"],
    ),
    "uuid": (
        {"type": "string", "format": "uuid"},
        ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
        ["2eb8aa08-aa98-11ea-b4aa-73b441d1638", "x"],
    ),
    "any of": ({"anyOf": [{"type": "integer"}, {"enum": ["x"]}]}, [7, "x"], ["y", 1.5]),
    "items": (
        {"type": "array", "items": {"type": "boolean"}},
        [[], [True], [False, True]],
        [[1], {}, [True, None]],
    ),
    "bounded items": (
        {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
        [[1], [1, 2]],
        [[], [1, 2, 3], ["1"]],
    ),
    "prefix items": (
        {
            "type": "array",
            "prefixItems": [{"type": "null"}, {"type": "integer"}],
            "items": {"type": "string"},
        },
        [[], [None], [None, 1], [None, 1, "a", "b"]],
        [[1], [None, "a"], [None, 1, 2]],
    ),
}


def _object(properties: dict[str, Any], required: list[str], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
        **more,
    }


def _inside(
    schema: Any, valid: list[Any], invalid: list[Any]
) -> Iterator[tuple[str, Any, list[Any], list[Any]]]:
    yield "alone", schema, valid, invalid
    yield (
        "a required property",
        _object({"a": schema, "b": {"type": "null"}}, ["a"]),
        [{"a": valid[0]}, *({"a": each, "b": None} for each in valid)],
        [{}, {"b": None}, {"a": valid[0], "c": 1}, *({"a": each} for each in invalid)],
    )
    yield (
        "an optional property",
        _object({'é"': {"type": "null"}, "a b": schema, "c": {"type": "null"}}, ["c"]),
        [{"c": None}, *({"a b": each, "c": None} for each in valid), {'é"': None, "c": None}],
        [{"a b": valid[0]}, *({"a b": each, "c": None} for each in invalid)],
    )
    yield (
        "an item",
        {"type": "array", "items": schema, "maxItems": 3},
        [[], [valid[0]], [valid[0], valid[-1], valid[0]]],
        [[valid[0]] * 4, *([valid[0], each] for each in invalid)],
    )
    yield (
        "a reference",
        {"$ref": "#/$defs/a~1b", "$defs": {"a/b": schema}},
        valid,
        invalid,
    )
    yield (
        "next to an object",
        {"anyOf": [schema, _object({"deep": _object({"x": schema}, ["x"])}, ["deep"])]},
        [valid[0], *({"deep": {"x": each}} for each in valid)],
        [{"deep": {}}, {"deep": None}, *({"deep": {"x": each}} for each in invalid)],
    )
    yield (
        "a list of objects",
        {"type": "array", "items": _object({"x": schema}, ["x"]), "minItems": 1, "maxItems": 2},
        [[{"x": each}] for each in valid] + [[{"x": valid[0]}, {"x": valid[-1]}]],
        [[], [{}], *([{"x": each}] for each in invalid)],
    )
    yield (
        "inside itself",
        {
            "$ref": "#/$defs/node",
            "$defs": {"node": _object({"v": schema, "next": {"$ref": "#/$defs/node"}}, ["v"])},
        },
        [{"v": valid[0]}, {"v": valid[0], "next": {"v": valid[-1]}}],
        [{}, {"v": valid[0], "next": {}}, *({"v": valid[0], "next": {"v": each}} for each in invalid)],
    )


CASES = [
    Case(f"{leaf}, {place}", *inside)
    for leaf, (schema, valid, invalid) in _LEAVES.items()
    for place, *inside in _inside(schema, valid, invalid)
]
