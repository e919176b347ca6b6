import json

import pytest

from tests.cli.requests.generate_test import bundle  # noqa: F401  (a fixture)

ORDER = {
    "type": "object",
    "properties": {"item": {"enum": ["fox", "dog"]}, "count": {"type": "integer"}},
    "required": ["item"],
}


@pytest.mark.parametrize(
    ("schema", "answers"),
    [
        (ORDER, ["yes", "yes: "]),
        ({"type": "integer", "minimum": 3}, ["yes", "no: #/minimum"]),
        ({"not": {}}, ["no: #/not", "no: #/not"]),
        ({"type": "array", "items": {"$ref": "#/items"}}, ["no: #/items/$ref", "no: "]),
    ],
)
def test_what_a_schema_is_held_to_by_each_way(firth, tmp_path, schema, answers):
    (tmp_path / "order.json").write_text(json.dumps(schema))
    result = firth("schema", "order.json")
    lines = result.stdout.splitlines()
    assert [answer in line for answer, line in zip(answers, lines, strict=True)] == [True, True], (
        result.output
    )
    assert result.exit_code == (2 if answers[0].startswith("no") else 0)


def test_a_vocabulary_that_cannot_write_it_is_named(firth, tmp_path, bundle):  # noqa: F811
    (tmp_path / "order.json").write_text(json.dumps(ORDER))
    result = firth("schema", "order.json", bundle)
    assert "byte_fallback" in result.stdout, result.output
    (tmp_path / "broken.json").write_text("{")
    result = firth("schema", "broken.json")
    assert result.exit_code == 2 and "broken.json:1" in result.stderr
