"""A schema inside a SavedModel: what plain TensorFlow reads from it is valid, from random weights too."""

import json

import jsonschema
import numpy as np
import pytest
import tensorflow as tf

from firth.constraints.token_bytes import TokenBytes
from firth.serving import read_description
from firth.serving.saved_model import export
from firth.serving.schemas.export import read_automaton
from firth.serving.signatures import text_signatures
from firth.serving.slots.loaded import Loaded
from tests.generation.constrained_batch_test import generator

ORDER = {
    "type": "object",
    "properties": {
        "item": {"enum": ["cat", "dög", 'a"b\\']},
        "count": {"type": "integer"},
        "note": {"type": "string", "maxLength": 20},
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
SCHEMAS = {"bpe": ORDER, "sentencepiece": ORDER, "without fallback": WITHIN}


def exported(kind, schemas, path):
    """Returns the model of a tokenizer's kind after its export with schemas."""
    made = generator("causal_lm, table of its own", kind)
    settings = made.recipe.export.model_copy(update={"schemas": schemas})
    recipe = made.recipe.model_copy(update={"export": settings})
    export(made.model, made.tokenizer, recipe, None, str(path / "1"))
    return made


@pytest.fixture
def signatures_of_schemas(monkeypatch):
    """Exports the signatures of schemas alone: `tests/serving/slots/models.py` exports the others."""

    def offered(*arguments):
        return {name: each for name, each in text_signatures(*arguments).items() if "generate_" in name}

    monkeypatch.setattr("firth.serving.saved_model.text_signatures", offered)
    monkeypatch.setattr("firth.serving.warmup.text_signatures", offered)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_texts_of_a_saved_model_are_valid_and_end_in_time(kind, tmp_path, signatures_of_schemas):
    schema, folder = SCHEMAS[kind], str(tmp_path / "1")
    (tmp_path / "order.json").write_text(json.dumps(schema))
    # A second schema, and one in place of its file, with one of the tokenizers.
    more = {"answer": {"type": "boolean"}} if kind == "bpe" else {}
    made = exported(kind, {"order": str(tmp_path / "order.json"), **more}, tmp_path)
    loaded = Loaded(folder)
    described = read_description(folder)["signatures"]["generate_order"]["parameters"]
    least = read_description(folder)["schemas"]["order"]["least_tokens"]
    prompts = [b"the fox", b"yes or no", "Zoë".encode(), b"a"]
    values = {name: np.full(4, each["default"], each["dtype"]) for name, each in described.items()}
    values |= {
        "temperature": np.array([0.0, 1.0, 2.0, 5.0], np.float32),
        "seed": np.arange(4),
        "max_new_tokens": np.array([least, least + 3, 60, 100], np.int32),
    }
    found = loaded.run("generate_order_with_parameters", {"text": prompts, **values})
    assert found["is_finished"].all()
    checker = jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    for text in found["generated"]:
        checker.validate(json.loads(text))
    assert len({*found["generated"]}) == 4
    # The automaton that lies next to the model is the same.
    tokens = TokenBytes.of(made.tokenizer, made.framing.may_write, made.framing.end_id)
    assert read_automaton(folder, "order", tokens).least_tokens == least
    if more:
        (answer,) = loaded.run("generate_answer", {"text": [b"yes?"]})["generated"]
        assert answer in (b"true", b"false")
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"at least {least}"):
        short = {**values, "max_new_tokens": np.full(4, least - 1, np.int32)}
        loaded.run("generate_order_with_parameters", {"text": prompts, **short})


def test_a_schema_whose_bytes_the_vocabulary_lacks_is_not_exported(tmp_path):
    with pytest.raises(ValueError, match=r"b'-'.*byte_fallback"):
        exported("without fallback", {"order": ORDER}, tmp_path)
    assert not (tmp_path / "1").exists()
