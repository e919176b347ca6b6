"""A schema inside a SavedModel: what plain TensorFlow reads from it is valid, from random weights too."""

import contextlib
import json
import operator
import sys
from unittest import mock

import jsonschema
import numpy as np
import pytest
import tensorflow as tf

from firth.constraints import llguidance_grammar
from firth.constraints.automaton import _built, constraint_regex
from firth.constraints.compiling import schema_automaton
from firth.constraints.matcher import ConstraintError
from firth.constraints.token_bytes import TokenBytes
from firth.recipes.generation.constraints import JsonSchema
from firth.serving import ContinuousBatcher, SlotPrompt, read_description
from firth.serving.saved_model import export
from firth.serving.schemas.export import check_automaton
from firth.serving.signatures import text_signatures
from firth.serving.slots.loaded import Loaded
from tests.generation.constrained_batch_test import HAS_RANDOM, generator, random_schemas, request
from tests.repeating import often

ORDER = {
    "type": "object",
    "properties": {
        "item": {"enum": ["cat", "dög", 'a"b\\']},
        "count": {"type": "integer"},
        "note": {"type": "string", "maxLength": 6},
        "born": {"type": "string", "format": "date"},
    },
    "required": ["item", "born"],
    "additionalProperties": False,
}


# Spelled by the characters of the texts that trained a tokenizer without a piece for each byte.
WITHIN = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["cat", "yes", 1, 30]},
        "count": {"type": "array", "items": {"enum": [1, 2, 30]}, "maxItems": 2},
        "name": {"type": "string", "maxLength": 20},
    },
    "required": ["kind", "name"],
    "additionalProperties": False,
}
# The schema that the vocabulary of each kind of tokenizer can write.
OF_KINDS = {"bpe": ORDER, "sentencepiece": ORDER, "without fallback": WITHIN}


def export_with(kind, schemas, path, **settings):
    """Exports the model of a tokenizer's kind with schemas."""
    made = generator("causal_lm, table of its own", kind)
    changed = made.recipe.export.model_copy(update={"schemas": schemas, **settings})
    recipe = made.recipe.model_copy(update={"export": changed})
    export(made.model, made.tokenizer, recipe, None, str(path / "1"))


def schema_for(kind):
    """Returns a random schema with many states that a kind's vocabulary can write, by its name."""
    made = generator("causal_lm, table of its own", kind)
    tokens = TokenBytes.of(made.tokenizer, made.framing.may_write, made.framing.end_id)
    found = []
    for schema in random_schemas():
        with contextlib.suppress(ConstraintError):
            made.check(request(schema, "greedy"))
            automaton = schema_automaton(schema, tokens)
            # More would be checked by texts for a minute.
            if automaton.automaton.states < 80:
                found.append((automaton.automaton.states, schema))
    return {"random": max(found, key=operator.itemgetter(0))[1]}


@pytest.fixture
def signatures_of_schemas(kind, monkeypatch):
    """Exports the signatures of schemas alone, and `generate` with them for one kind of tokenizer."""
    plain = {"generate"} if kind == "sentencepiece" else set()

    def offered(*arguments):
        found = text_signatures(*arguments)
        return {name: each for name, each in found.items() if name in plain or "generate_" in name}

    monkeypatch.setattr("firth.serving.saved_model.text_signatures", offered)
    monkeypatch.setattr("firth.serving.warmup.text_signatures", offered)
    monkeypatch.setattr("firth.serving.score_tokens.is_offered", lambda _: False)


# `tests/generation/constrained_batch_test.py` has the others' automata in a graph that is not exported.
@pytest.mark.parametrize("kind", often(OF_KINDS, ["bpe"]))
def test_texts_of_a_saved_model_are_valid_and_end_in_time(kind, tmp_path, signatures_of_schemas, monkeypatch):
    schema, folder = OF_KINDS[kind], str(tmp_path / "1")
    (tmp_path / "order.json").write_text(json.dumps(schema))
    # With one of the tokenizers slots; with the others a random schema next to that of the file.
    has_slots = kind == "bpe"
    drawn = schema_for(kind) if HAS_RANDOM and not has_slots else {}
    # Prompts of all lengths have one graph.
    monkeypatch.setattr("firth.generation.slots._SHORTEST", 256)
    # The next test checks the automaton of the first schema.
    check = mock.Mock(return_value=1000) if has_slots else check_automaton
    monkeypatch.setattr("firth.serving.schemas.export.check_automaton", check)
    export_with(kind, {"order": str(tmp_path / "order.json"), **drawn}, tmp_path, slots=2 * has_slots)
    if has_slots:
        assert [each.args[1] for each in check.call_args_list] == [schema]
    loaded = Loaded(folder)
    described = read_description(folder)["signatures"]["generate_order"]["parameters"]
    schemas = read_description(folder)["schemas"]
    least = schemas["order"]["least_tokens"]
    prompts = [b"the fox", b"yes or no", "Zoë".encode(), b"a"]
    values = {name: np.full(4, each["default"], each["dtype"]) for name, each in described.items()}
    values |= {
        "temperature": np.array([0.0, 1.0, 2.0, 5.0], np.float32),
        "seed": np.arange(4),
        "max_new_tokens": np.array([least, least + 3, least + 6, 60], np.int32),
    }
    in_python = {} if has_slots else tf.saved_model.load(folder).signatures
    for name, each in {**drawn, "order": schema}.items():
        fewest = schemas[name]["least_tokens"]
        most = np.array([fewest, fewest + 3, fewest + 6, max(fewest, 60)], np.int32)
        asked = {"text": prompts, **values, "max_new_tokens": most}
        found = loaded.run(f"generate_{name}_with_parameters", asked)
        assert found["is_finished"].all()
        checker = jsonschema.Draft202012Validator(
            each, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
        )
        for text in found["generated"]:
            checker.validate(json.loads(text))
        if in_python:
            asked = {key: tf.constant(value) for key, value in asked.items()}
            again = in_python[f"generate_{name}_with_parameters"](**asked)
            assert again["generated"].numpy().tolist() == found["generated"].tolist()
    assert len({*found["generated"]}) == 4
    if has_slots:
        asked = [
            SlotPrompt(text.decode(), {name: each[row] for name, each in values.items()}, schema="order")
            for row, text in enumerate(prompts)
        ]
        expected = [each.decode() for each in found["generated"]]
        check_slots(folder, loaded, asked, expected, monkeypatch)
    if "generate" in loaded.signatures:
        # A schema holds its own signature alone.
        held = loaded.run("generate_order", {"text": prompts})["generated"].tolist()
        assert not {*held} & {*loaded.run("generate", {"text": prompts})["generated"].tolist()}
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"at least {least}"):
        short = {**values, "max_new_tokens": np.full(4, least - 1, np.int32)}
        loaded.run("generate_order_with_parameters", {"text": prompts, **short})


def check_slots(folder, loaded, asked, expected, monkeypatch):
    """Slots write the same texts, without llguidance, by the automata that lie next to the model."""
    monkeypatch.setitem(sys.modules, "llguidance", None)
    llguidance_grammar.llguidance.cache_clear()
    batcher = ContinuousBatcher(folder, loaded)
    written = {each.number: each for each in batcher.write([*asked, asked[-1]._replace(schema="")])}
    assert [written[number].text for number in range(4)] == expected
    # A schema holds the texts that ask for it alone.
    assert not written.pop(4).text.lstrip().startswith("{")
    assert all((each.ended, each.complete) == ("end", True) for each in written.values())
    short = asked[0]._replace(parameters={"max_new_tokens": 2})
    own = JsonSchema(json_schema={"type": "integer"})
    for refused, said in (
        (short, "at least"),
        (short._replace(schema="ordr"), "'ordr'.*order"),
        (short._replace(constraint=own), "not to both"),
        (short._replace(constraint=own, schema=""), "structured"),
    ):
        with pytest.raises(ValueError, match=said):
            batcher.join(refused)
    assert batcher.free == 2


def test_the_signature_of_free_texts_is_the_one_without_schemas():
    recipe = generator("causal_lm, table of its own", "bpe").recipe
    changed = recipe.export.model_copy(update={"schemas": {"order": ORDER}})
    plain, held = text_signatures(recipe), text_signatures(recipe.model_copy(update={"export": changed}))
    assert held.keys() - plain.keys() == {"generate_order"}
    assert held["generate"].function is plain["generate"].function


def test_an_automaton_that_other_engines_do_not_confirm_is_not_exported():
    """A thousand texts, or one for each transition, have to be valid by jsonschema and by llguidance."""
    properties = {name: ORDER["properties"][name] for name in ("item", "count")}
    order = {**ORDER, "properties": properties, "required": ["item"]}
    automaton = _built(constraint_regex(JsonSchema(json_schema=order)))
    transitions = int((automaton.transitions >= 0).sum())
    assert check_automaton(automaton, order) == max(transitions, 1000)
    other = {**order, "properties": {**properties, "count": {"type": "string"}}}
    with pytest.raises(ConstraintError, match="#/properties/count/type: the automaton writes"):
        check_automaton(automaton, other)
    # What jsonschema lets through, and llguidance does not: the keys in another order.
    swapped = {**order, "properties": dict(reversed(properties.items()))}
    with pytest.raises(ConstraintError, match="which llguidance does not"):
        check_automaton(automaton, swapped)


def test_a_schema_whose_bytes_the_vocabulary_lacks_is_not_exported(tmp_path):
    with pytest.raises(ValueError, match=r"b'-'.*byte_fallback"):
        export_with("without fallback", {"order": {"enum": ["-"]}}, tmp_path)
    assert not (tmp_path / "1").exists()
