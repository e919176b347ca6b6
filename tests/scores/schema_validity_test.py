"""The share of texts that are valid by a JSON Schema."""

import json

import pytest

from firth.constraints.matcher import ConstraintError
from firth.scores import Collected, compute, compute_interval

PERSON = {
    "type": "object",
    "properties": {"born": {"type": "string", "format": "date"}, "of": {"$ref": "#/$defs/name"}},
    "required": ["born"],
    "additionalProperties": False,
    "$defs": {"name": {"type": "string", "minLength": 1}},
}


def examples(*texts: str) -> list[Collected]:
    return [Collected(str(number), "", text) for number, text in enumerate(texts)]


@pytest.mark.parametrize(("text", "is_valid"), [
    ('{"born": "2024-02-29"}', True),
    (' {"of": "Ada", "born": "1815-12-10"}\n', True),
    ('{"born": "2023-02-29"}', False),
    ('{"born": "1815-12-10", "of": ""}', False),
    ('{"born": "1815-12-10", "born": "1815-12-10"}', False),
    ('{"born": "1815-12-10"} and more', False),
    ('{"born": "1815-12-1', False),
    ("", False),
    ("NaN", False),
    ("[" * 100_000, False),
    ("9" * 5_000, False),
])  # fmt: skip
def test_a_text_is_valid_or_not(text, is_valid):
    assert compute("schema_valid", examples(text), schema=PERSON).value == is_valid


def test_a_schema_may_be_a_file_and_equal_schemas_have_one_signature(tmp_path):
    path = tmp_path / "person.json"
    path.write_text(json.dumps(dict(reversed(PERSON.items()))))
    given = examples('{"born": "1815-12-10"}', "born in 1815", "1815", "{}")
    found = compute_interval("schema_valid", given, schema=str(path))
    assert found.value == 0.25 and found.low < 0.25 < found.high
    assert found == compute_interval("schema_valid", given, schema=PERSON)
    signatures = {compute("schema_valid", given, schema=each).signature for each in (PERSON, str(path))}
    assert len(signatures) == 1 and "jsonschema:" in signatures.pop()


@pytest.mark.parametrize(("schema", "named"), [
    ({"type": "text"}, "#/type"),
    ({"items": {"$ref": "https://example.org/other.json"}}, "#/items/$ref"),
    ({"$ref": "#/$defs/none"}, "#/$ref"),
    ({"$id": "https://example.org/a", "items": {"$id": "b", "$ref": "#/$defs/c"}}, "#/items/$id"),
    ({"properties": {"default": {"$ref": "https://example.org/a.json"}}}, "#/properties/default/$ref"),
    ({"$defs": {"enum": {"$ref": "other.json"}}}, "#/$defs/enum/$ref"),
    ({"$ref": "#/properties/a/default", "properties": {"a": {"default": {"$ref": "b.json"}}}}, "b.json"),
    ({"$ref": "#/$defs/%41", "$defs": {"%41": {}}}, "#/$ref"),
    ({"items": {"$anchor": "a"}}, "#/items/$anchor"),
    ({"properties": {"pattern": {"pattern": "^(?<x>a)$"}}}, "#/properties/pattern/pattern"),
    ({"patternProperties": {"(?<x>a)": {}}}, "#/patternProperties/(?<x>a)"),
    (
        {"patternProperties": {"(?P<x>a)": {}, "(?P<x>b)": {}}, "additionalProperties": False},
        "#/patternProperties: ",
    ),
    ("no_such_schema.json", "no_such_schema.json"),
])  # fmt: skip
def test_a_schema_that_is_not_valid_is_refused_by_its_place(schema, named):
    with pytest.raises(ConstraintError) as raised:
        compute("schema_valid", examples("1"), schema=schema)
    assert named in str(raised.value)
