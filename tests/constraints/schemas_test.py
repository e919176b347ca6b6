"""The gate: what no text is held to is refused by its place, and nothing is ignored."""

import json

import jsonschema
import pytest

from firth.constraints.compiling import compile_constraint
from firth.constraints.matcher import ConstraintError
from firth.constraints.schemas import parse_schema
from firth.constraints.token_bytes import SINGLE_BYTES
from firth.recipes.generation.constraints import Choices, Grammar, JsonSchema, Regex


def nested(depth):
    schema = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


REFUSED = [
    ({"type": "object", "foo": 1}, "#/foo"),
    ({"propertys": {}}, "did you mean properties"),
    ({"x-guidance": {}}, "#/x-guidance"),
    ({"properties": {"a/b": {"not": {}}}}, "#/properties/a~1b/not"),
    ({"anyOf": [{"type": "null"}, {"uniqueItems": True}]}, "#/anyOf/1/uniqueItems"),
    ({"$defs": {"a": {"if": {}}}}, "#/$defs/a/if"),
    ({"patternProperties": {"^a": {}}, "properties": {"ab": {}}}, "#/patternProperties/^a"),
    ({"type": "integer", "minimum": 5, "maximum": 3}, "#/minimum"),
    ({"type": "array", "minItems": 3, "maxItems": 1}, "#/minItems"),
    ({"enum": []}, "#/enum"),
    ({"type": "strng"}, "#/type"),
    ({"minLength": -1}, "#/minLength"),
    ({"$ref": "#"}, "leads to itself"),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "itself"),
    ({"$ref": "https://example.org/a"}, "not in this schema"),
    ({"$ref": "#/$defs/nod", "$defs": {"node": {}}}, "did you mean node"),
    ({"type": "string", "format": "hostname"}, "#/format"),
    ({"type": "string", "format": "date", "pattern": "a"}, "#/format"),
    ({"items": {"type": "string", "pattern": "(?=a)"}}, "#/items/pattern"),
    ({"const": "\ud800"}, "#/const"),
    (nested(1000), "deeper than 64"),
    (False, "false"),
]


@pytest.mark.parametrize(("schema", "named"), REFUSED)
def test_a_schema_that_would_not_be_followed_is_refused_by_its_place(schema, named):
    with pytest.raises(ConstraintError) as refused:
        compile_constraint(JsonSchema(json_schema=schema), SINGLE_BYTES)
    assert named in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("constraint", "named"),
    [
        (Regex(pattern="(?=a)b"), "look-around"),
        (Regex(pattern="("), "unclosed"),
        (Grammar(grammar="start: x"), '"x"'),
    ],
)
def test_an_expression_that_is_none_is_refused_in_a_sentence(constraint, named):
    with pytest.raises(ConstraintError) as refused:
        compile_constraint(constraint, SINGLE_BYTES)
    assert named in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "a.json:1"),
        ('{"a": 1,\n"a": 2}', "'a'"),
        ("NaN", "NaN"),
        (b"\xff", "UTF-8"),
        ("[" * 100_000, "64"),
        (" " * 2**21, "bytes"),
    ],
)
def test_a_text_that_is_no_schema_is_refused_with_its_file(text, named):
    with pytest.raises(ConstraintError, match=f"a.json.*{named}|{named}"):
        parse_schema(text, "a.json")


ACCEPTED = [
    ({"type": "string", "format": "date"}, ["2024-02-29"], ["2023-02-29", "2024-2-9"]),
    ({"type": "string", "minLength": 2.0}, ["ab", "éé"], ["a", 1]),
    ({"type": "integer", "x-unit": "metre", "minimum": 3, "title": "n"}, [3, 10], [2, "3", 3.5]),
    ({"type": "object", "additionalProperties": {"type": "null"}}, [{}, {"a": None}], [{"a": 1}, []]),
    ({"oneOf": [{"type": "null"}, {"type": "boolean"}]}, [None, True], [0, "null"]),
    ({"allOf": [{"type": "number"}, {"multipleOf": 0.5}]}, [1.5, 2], [0.3, True]),
    (
        {"$ref": "#/$defs/n", "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}},
        [[], [[[]]]],
        [[1]],
    ),
]


def accepts(compiled, text):
    matcher = compiled.new_matcher(1000)
    try:
        for byte in text.encode():
            matcher.accept(byte)
    except ConstraintError:
        return False
    return matcher.complete


@pytest.mark.parametrize(("schema", "valid", "invalid"), ACCEPTED)
def test_instances_of_a_schema(schema, valid, invalid):
    checker = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    compiled = compile_constraint(JsonSchema(json_schema=schema), SINGLE_BYTES)
    for instance, expected in [*((each, True) for each in valid), *((each, False) for each in invalid)]:
        assert checker.is_valid(instance) == expected, instance
        assert accepts(compiled, json.dumps(instance, ensure_ascii=False, separators=(",", ":"))) == expected


def test_choices_regex_and_grammar():
    choices = compile_constraint(Choices(choices=("yes", 'n"o\\\n', "é")), SINGLE_BYTES)
    assert [accepts(choices, each) for each in ("yes", " yes", 'n"o\\\n', "é", "ye", "yesé")] == [
        *(True, True, True, True),
        *(False, False),
    ]
    regex = compile_constraint(Regex(pattern="[ab]{2}/x?"), SINGLE_BYTES)
    assert [accepts(regex, each) for each in ("ab/", "aa/x", "a/", "ab/xx")] == [True, True, False, False]
    grammar = compile_constraint(Grammar(grammar='start: "(" start ")" | "x"'), SINGLE_BYTES)
    assert [accepts(grammar, each) for each in ("x", "((x))", "((x)", "()")] == [True, True, False, False]
