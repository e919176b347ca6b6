"""Parity with transformers' models that write texts: losses of a step, and what is written greedily."""

import functools
import types

import keras
import numpy as np
import pytest

# Weights of transformers are read next to tokenizers, which need KerasHub.
pytest.importorskip("keras_hub", reason="needs KerasHub")
if keras.backend.backend() != "tensorflow":
    pytest.skip("rows are made by TensorFlow's ops", allow_module_level=True)

import tensorflow as tf

from firth import features as names
from firth.generation import DecoderReader, Prompts, Writer
from firth.generation.controls import neutral_controls
from firth.generation.sampling import likeliest
from firth.generation.writer import AT_END
from firth.models import TaskModel, example_sums, total_loss
from firth.recipes.tasks.forms import BARTTextForm, T5Form
from firth.recipes.tasks.text_to_text import TextToText
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks import TASKS
from tests.models import references
from tests.repeating import often

# For each, the reference of its shape, its form, and the ids of its special tokens.
FAMILIES = {
    "t5_texts": ("t5", T5Form(), types.SimpleNamespace(pad_id=0, sep_id=1)),
    "bart_texts": ("bart", BARTTextForm(), types.SimpleNamespace(pad_id=1, sep_id=2, cls_id=0)),
}
SEQUENCES = Sequences(length=12, max_documents=1)
MOST = 9
families = pytest.mark.parametrize("name", often(FAMILIES, ["t5_texts"]))


def task_of(name: str) -> TextToText:
    return TextToText(form=FAMILIES[name][1], target_tokens=10, decoder_length=10)


@functools.cache
def model_of(name: str) -> TaskModel:
    """Our model with the reference's weights."""
    reference = references.REFERENCES[FAMILIES[name][0]]
    shape = reference.model
    made = TaskModel(model=shape, task=task_of(name), vocabulary_size=references.VOCABULARY, dtype="float32")
    made.build()
    references.copy_by_rules(made, reference.rules(shape, reference.objective), references.read_golden(name))
    return made


def features_of(name: str) -> dict[str, tf.Tensor]:
    """A row for each of the reference's records, of its tokens without special ones."""
    given, task = references.read_golden(name), task_of(name)
    make = TASKS[task.kind](task, SEQUENCES, FAMILIES[name][2])
    before, rows = len(task.form.before), []
    for ids, real, labels in zip(
        given["input/input_ids"], given["input/attention_mask"], given["input/labels"]
    ):
        chunks = [ids[real > 0][before:-1], labels[labels >= 0][before:-1]]
        tokens = np.concatenate(chunks)
        room = task.raw_length(SEQUENCES)
        row = {
            names.RAW_TOKENS: np.pad(tokens, (0, room - len(tokens))),
            names.WORD_STARTS: np.zeros(room),
            names.CHUNK_LENGTHS: np.array([len(chunk) for chunk in chunks]),
        }
        row = {key: tf.constant(value, tf.int32) for key, value in row.items()}
        rows.append(make(row, None, [0, 0]))
    return {key: tf.stack([row[key] for row in rows]) for key in rows[0]}


def loss_of(model: TaskModel, features):
    return total_loss(example_sums(model(features)), {"lm": 1.0})["loss"]


@families
def test_the_loss_before_and_after_a_step(name):
    model, features, given = model_of(name), features_of(name), references.read_golden(name)
    before = float(given["loss/lm"])
    references.check_step(model, lambda: loss_of(model, features), before, given)


@families
def test_the_same_is_written(name):
    model, given = model_of(name), references.read_golden(name)
    form, tokenizer = FAMILIES[name][1:]
    ids, real = given["input/input_ids"], given["input/attention_mask"]
    inputs = tf.ragged.boolean_mask(tf.constant(ids, tf.int32), real > 0)
    start = tuple(getattr(tokenizer, f"{role}_id") for role in form.target_start)
    every_token = np.ones(references.VOCABULARY, bool)
    writer = Writer(DecoderReader(model, start), tokenizer.sep_id, every_token, likeliest)
    prompts, controls = Prompts.of(inputs, tokenizer.pad_id), neutral_controls(len(ids), MOST)
    found = writer.texts(writer.go_on(writer.start(prompts, controls, MOST)[0], controls, MOST))
    for place, theirs in enumerate(given["written"]):
        ends = np.flatnonzero(theirs == tokenizer.sep_id)
        assert (found.ended[place] == AT_END) == bool(len(ends))
        expected = theirs[: ends[0] + 1 if len(ends) else None].tolist()
        assert found.ids[place, : found.count[place]].numpy().tolist() == expected
