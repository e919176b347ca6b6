"""The gate: what no text is held to is refused by its place, and nothing is ignored."""

import json

import jsonschema
import numpy as np
import pytest

from firth.constraints import llguidance_grammar
from firth.constraints.compiling import compile_constraint
from firth.constraints.matcher import ConstraintError
from firth.constraints.schemas import parse_schema
from firth.constraints.token_bytes import SINGLE_BYTES, TokenBytes
from firth.recipes.generation.constraints import Grammar, JsonSchema, Regex, TextChoices


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
    ({"enum": [{"a": ["b\x00"]}]}, "#/enum/0/a/0"),
    ({"properties": {"a\x7f": {}}}, "#/properties"),
    ({"$ref": "#foo", "$defs": {"a": {"$anchor": "foo"}}}, "#/$ref"),
    ({"properties": {"a": {"$id": "https://example.org/a"}}}, "#/properties/a/$id"),
    ({"x-own": {"type": "null"}, "$ref": "#/x-own"}, "no part of the schema"),
    ({"type": "object", "minProperties": 2, "required": ["a"]}, "#/minProperties"),
    # Sets and classes that Rust reads in another way than ECMA.
    ({"type": "string", "pattern": "^[a-z&&[aeiou]]$"}, "#/pattern"),
    ({"patternProperties": {"[[:alpha:]]": {}}}, "#/patternProperties/[[:alpha:]]"),
    (nested(1000), "deeper than 64"),
    ({"const": float("inf")}, "#/const"),
    # llguidance writes the first one as a whole number of 91 digits, which is read as another one.
    ({"items": {"enum": ["", 1.545989754102138e90]}}, "#/items/enum/1"),
    ({"const": -(2**70)}, "#/const"),
    ({"enum": ["a" * 2**20]}, "bytes"),
    # What llguidance begins and cannot follow.
    ({"properties": {f"p{each}": {} for each in range(1000)}, "type": "object"}, "items; max is"),
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
        (Grammar(grammar="start: <[0]>"), "tokens"),
        (Grammar(grammar='start: " "* "x"'), "space"),
    ],
)
def test_an_expression_that_is_none_is_refused_in_a_sentence(constraint, named):
    with pytest.raises(ConstraintError) as refused:
        compile_constraint(constraint, SINGLE_BYTES)
    assert named in str(refused.value) and "\n" not in str(refused.value)


def test_what_is_not_read_in_time_is_refused_and_the_next_one_is_read(monkeypatch):
    compile_constraint(TextChoices(choices=("a",)), SINGLE_BYTES)
    with monkeypatch.context() as patched:
        patched.setattr(llguidance_grammar, "MOST_SECONDS", 0.3)
        with pytest.raises(ConstraintError, match=r"json_schema: .* seconds"):
            compile_constraint(
                JsonSchema(json_schema={"type": "integer", "multipleOf": 1234577}), SINGLE_BYTES
            )
    assert accepts(compile_constraint(TextChoices(choices=("b",)), SINGLE_BYTES), "b")


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
    checker = jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    compiled = compile_constraint(JsonSchema(json_schema=schema), SINGLE_BYTES)
    for instance, expected in [*((each, True) for each in valid), *((each, False) for each in invalid)]:
        assert checker.is_valid(instance) == expected, instance
        assert accepts(compiled, json.dumps(instance, ensure_ascii=False, separators=(",", ":"))) == expected


OPEN = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        (OPEN, '{"age":1,"other":"a\\n\\""}', True),
        # Another spelling of a key is the same key to who reads it, and the last one counts.
        (OPEN, '{"age":1,"\\u0061ge":"x"}', False),
        ({"type": "object", "patternProperties": {"^a": {"type": "integer"}}}, '{"\\u0061b":"x"}', False),
        ({"type": "string", "pattern": "^\\D$"}, '"٣"', False),
        ({"type": "string", "pattern": "^\\d.\\x41$"}, '"1éA"', True),
    ],
)
def test_a_text_that_readers_take_otherwise(schema, text, expected):
    assert accepts(compile_constraint(JsonSchema(json_schema=schema), SINGLE_BYTES), text) == expected


@pytest.mark.parametrize("finish", [False, True])
@pytest.mark.parametrize("make", [lambda: TextChoices(choices=(" a", "b")), lambda: Regex(pattern=" a|b")])
def test_one_space_is_taken_off_whatever_the_text_begins_with(make, finish):
    compiled = compile_constraint(make(), SINGLE_BYTES, finish)
    assert [accepts(compiled, each) for each in ("  a", " a", "a", "b", " b", "  b")] == [
        *(True, False, False),
        *(True, True, False),
    ]


def test_choices_regex_and_grammar():
    choices = compile_constraint(TextChoices(choices=("yes", 'n"o\\\n', "é")), SINGLE_BYTES)
    assert [accepts(choices, each) for each in ("yes", " yes", 'n"o\\\n', "é", "ye", "yesé")] == [
        *(True, True, True, True),
        *(False, False),
    ]
    regex = compile_constraint(Regex(pattern="[ab]{2}/x?"), SINGLE_BYTES)
    assert [accepts(regex, each) for each in ("ab/", "aa/x", "a/", "ab/xx")] == [True, True, False, False]
    grammar = compile_constraint(Grammar(grammar='start: "(" start ")" | "x"'), SINGLE_BYTES)
    assert [accepts(grammar, each) for each in ("x", "((x))", "((x)", "()")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("pieces", "constraint", "named"),
    [
        # T5's vocabulary has no braces.
        (["a", '"', ":"], {"type": "object"}, "b'{'"),
        # The closing one comes after a string of any length.
        (['"', ":", "{", *map(chr, range(97, 123))], {"type": "object"}, "b'}'"),
        (["[", "]", "1"], {"anyOf": [{"const": "a"}, {"enum": ["b", {"c": 1}]}]}, "'\"'"),
        (["a", "b"], Regex(pattern="ab?c"), "b'c'"),
        (["yes", "n"], TextChoices(choices=("no",)), "b'o'"),
        # WordPiece writes a space before each word.
        ([" {", " }", ' "', " a", "a", "b"], {"required": ["a"], "type": "object"}, "b':'"),
        ([" {", " }", ' "', " :", " a", " 1"], {"const": {"a": 1}}, "spaces"),
    ],
)
def test_a_vocabulary_that_cannot_write_a_valid_text_is_refused(pieces, constraint, named):
    tokens = TokenBytes((*(each.encode() for each in pieces), None), len(pieces))
    constraint = JsonSchema(json_schema=constraint) if isinstance(constraint, dict) else constraint
    with pytest.raises(ConstraintError) as refused:
        compile_constraint(constraint, tokens)
    assert named in str(refused.value) and "\n" not in str(refused.value)


def test_a_vocabulary_with_spaces_spells_what_has_them():
    tokens = TokenBytes((b" yes", b" no", b" :", b"s", None), 4)
    compiled = compile_constraint(TextChoices(choices=("yes", "no s", "yes :")), tokens)
    matcher = compiled.new_matcher(9)
    words = np.zeros(1, np.int32)
    found = []
    for token in (0, 2, 4):
        matcher.write_mask(words)
        found.append([each for each in range(5) if words[0] >> each & 1])
        matcher.accept(token)
    assert found == [[0, 1], [2, 4], [4]]
    # The end is a token as others are, whether something else might have come instead or not.
    with pytest.raises(ConstraintError):
        matcher.accept(2)
    begun = compiled.new_matcher(9)
    begun.accept(0)
    other = begun.copy()
    other.accept(4)
    for each, expected in ((begun, [2, 4]), (other, [])):
        each.write_mask(words)
        assert [token for token in range(5) if words[0] >> token & 1] == expected
