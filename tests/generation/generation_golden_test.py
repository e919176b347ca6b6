"""Written texts equal those of transformers, and processed logits those of its processors."""

import json
import pathlib
import types

import keras
import numpy as np
import pytest

# Weights of transformers are read next to tokenizers, which need KerasHub.
pytest.importorskip("keras_hub", reason="needs KerasHub")
if keras.backend.backend() != "tensorflow":
    pytest.skip("texts are written by TensorFlow's ops", allow_module_level=True)

import tensorflow as tf

from firth.generation import Prompts, StackReader, Writer
from firth.generation.controls import neutral_controls
from firth.generation.penalties import Seen, adjusted
from firth.generation.sampling import filtered, keep_min_p, keep_top_k, keep_top_p, keep_typical, likeliest
from firth.models import PretrainingModel
from tests.generation.cases import eagerly
from tests.models import references
from tests.repeating import often

GOLDEN = json.loads((pathlib.Path(__file__).parent / "golden" / "generation.json").read_text())
NAMES = ("gpt2", "llama", "llama_3_1")


def model_of(name):
    reference = references.REFERENCES[name]
    shape, objective = reference.model, reference.objective
    made = PretrainingModel(model=shape, objective=objective, vocabulary_size=references.VOCABULARY)
    made.build()
    references.copy_by_rules(made, reference.rules(shape, objective), references.read_golden(name))
    return made


@pytest.mark.parametrize("name", often(NAMES, ["gpt2", "llama"]))
def test_greedy_texts_of_several_lengths(name):
    """Theirs are written one by one, ours in one batch; half of it has a penalty."""
    given, most = GOLDEN[name], GOLDEN["most"]
    every_token = np.ones(references.VOCABULARY, bool)
    writer = Writer(StackReader(model_of(name)), GOLDEN["end"], every_token, likeliest)
    prompts = Prompts.of(tf.ragged.constant(given["prompts"] * 2, tf.int32), 0)
    controls = neutral_controls(6, most)._replace(repetition_penalty=tf.constant([1.0] * 3 + [1.7] * 3))
    # `generator_test.py` has graphs.
    with eagerly():
        found = writer.texts(writer.go_on(writer.start(prompts, controls, most)[0], controls, most))
    ids = [row[:count] for row, count in zip(found.ids.numpy().tolist(), found.count.numpy(), strict=True)]
    assert ids == [*given["greedy"], *given["repetition_penalty"]]


PROCESSORS = GOLDEN["processors"]
LOGITS = tf.constant(PROCESSORS["logits"])


def both(value, dtype=tf.float32):
    return tf.constant([value, value], dtype)


@pytest.mark.parametrize(
    ("name", "keep", "value"),
    [
        ("top_k", keep_top_k, both(3, tf.int32)),
        ("top_p", keep_top_p, both(0.8)),
        ("min_p", keep_min_p, both(0.1)),
        ("typical_p", keep_typical, both(0.6)),
    ],
)
def test_what_a_cut_leaves(name, keep, value):
    assert_equal(keep(LOGITS, value), PROCESSORS[name])


def test_what_all_cuts_leave():
    controls = neutral_controls(2, 1)._replace(
        temperature=both(0.7), top_k=both(8, tf.int32), top_p=both(0.8), min_p=both(0.1), typical_p=both(0.6)
    )
    assert_equal(filtered(LOGITS, controls), PROCESSORS["all"])
    assert_equal(
        filtered(LOGITS, neutral_controls(2, 1)._replace(temperature=both(0.7))), PROCESSORS["temperature"]
    )


def test_a_repetition_penalty():
    controls = neutral_controls(2, 1)._replace(repetition_penalty=both(1.5))
    prompts = Prompts(tf.constant(PROCESSORS["so_far"]), both(3, tf.int32), {})
    seen = Seen.of_prompts(prompts, types.SimpleNamespace(predicts_prompt=True), 12, 4)
    assert_equal(adjusted(LOGITS, controls, seen, 0), PROCESSORS["repetition_penalty"])


def assert_equal(found, theirs):
    theirs = np.array([[-np.inf if each is None else each for each in row] for row in theirs])
    np.testing.assert_allclose(found.numpy(), theirs, rtol=1e-5)
