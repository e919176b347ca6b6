import json

import pytest

from firth.constraints import token_automaton
from firth.constraints.compiling import schema_automaton
from firth.constraints.token_bytes import TokenBytes
from firth.models import save_model
from firth.tokenizers import save_tokenizer
from tests.cli.requests.generate_test import bundle  # noqa: F401  (a fixture)
from tests.generation.constrained_batch_test import generator

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


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ('{"$ref": "https://example.org/a"}', "#/$ref"),
        ('{"$ref": "#"}', "itself"),
        ('{"type": "string", "pattern": "(?=a)b"}', "look-around"),
        ('{"items": ' * 1000 + "{}" + "}" * 1000, "64"),
        (json.dumps({"const": "a" * 2**20}), "bytes"),
        ('{"enum": []}', "#/enum"),
        (r'{"const": "\ud800"}', "#/const"),
        ('{"type": "integer", "minimum": 2, "maximum": 1}', "#/minimum"),
        ('{"type": "strng"}', "#/type"),
        ("[1]", "a mapping"),
    ],
)
def test_a_schema_that_is_none_ends_the_command_in_a_sentence(firth, tmp_path, schema, named):
    (tmp_path / "order.json").write_text(schema)
    result = firth("schema", "order.json")
    lines = (result.stdout or result.stderr).strip().splitlines()
    assert result.exit_code == 2 and len(lines) <= 2, result.output
    assert all(named in line for line in lines[:1]), result.output


def test_the_states_the_bytes_and_the_least_tokens_are_those_of_the_automaton(firth, tmp_path, monkeypatch):
    made = generator("causal_lm, table of its own", "bpe")
    save_tokenizer(made.tokenizer, tmp_path / "tokenizer")
    save_model(made.model, made.recipe, tmp_path / "tokenizer", tmp_path / "bundle")
    (tmp_path / "order.json").write_text(json.dumps({**ORDER, "additionalProperties": False}))
    tokens = TokenBytes.of(made.tokenizer, made.framing.may_write, made.framing.end_id)
    automaton = schema_automaton({**ORDER, "additionalProperties": False}, tokens)
    states = f"{automaton.automaton.states:,} states, "
    assert states in firth("schema", "order.json").stdout
    last = firth("schema", "order.json", str(tmp_path / "bundle")).stdout.splitlines()[-1]
    assert f"yes: {states}{len(automaton.masks)} sets of tokens, {automaton.size:,} bytes" in last
    assert f"a valid text has {automaton.least_tokens} tokens or more" in last
    monkeypatch.setattr(token_automaton, "_MOST_BYTES", 0)
    assert f"yes: {states}a trie of tokens" in firth("schema", "order.json", str(tmp_path / "bundle")).stdout
