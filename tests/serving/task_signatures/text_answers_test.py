"""Answers that are written for rows: each record's by the prompt of its task, as its loss is."""

import functools
import types

import keras
import numpy as np
import pytest

if keras.backend.backend() != "tensorflow":
    pytest.skip("texts are served by TensorFlow", allow_module_level=True)

import tensorflow as tf

from firth import features as names
from firth.generation.framing import framing_of
from firth.models import TaskModel
from firth.models.additions.addition_kinds import extend_model
from firth.recipes.objectives.denoising import SpanCorruption
from firth.recipes.tasks.tasks import TextTasks
from firth.recipes.tasks.text_to_text import LabelWords, TextToText
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.recipes.tuning.prompts import MultitaskPromptTuning
from firth.serving.served_model import Served
from firth.serving.task_signatures import generate
from firth.serving.task_signatures.row_answers import answer_rows
from firth.serving.task_signatures.text_answers import label_log_probabilities
from firth.tokenizers import WordPieceTokenizer
from tests.models.table import MODELS
from tests.training.artifacts import VOCABULARY

ONE = LabelWords(labels=("0", "1"), words=("w1", "w2"))
TASK = TextTasks(tasks={"first": ONE, "second": ONE}, target_tokens=4)
PARTS = ("vectors", "columns", "rows")
SMALL = MODELS["t5"].model_copy(update={"layers": 1})


@functools.cache
def served_by(alone: int | None = None) -> Served:
    """Returns a model with the drawn prompts of both tasks, or with that of one alone, by its number."""
    values = drawn()
    if alone is not None:
        values = {name: each if name == "vectors" else each[alone][None] for name, each in values.items()}
    model = TaskModel(model=SMALL, task=TASK, vocabulary_size=len(VOCABULARY), seed=3)
    model.build()
    method = MultitaskPromptTuning(length=2, tasks=len(values["rows"]))
    extend_model(model, method)
    for name, value in values.items():
        getattr(model.added.held[0], name).assign(value)
    recipe = types.SimpleNamespace(
        goal=TASK,
        trained_by=method,
        sequences=Sequences(length=12, max_documents=1),
        tokenizer=types.SimpleNamespace(vocabulary_size=len(VOCABULARY)),
    )
    return Served(model, WordPieceTokenizer(VOCABULARY), recipe)


def drawn() -> dict[str, np.ndarray]:
    draw, width = np.random.default_rng(0), SMALL.width
    return dict(zip(PARTS, (draw.normal(0, 3, size) for size in ((2, width), (2, 2, 1), (2, 1, width)))))


def test_a_served_text_is_answered_by_the_prompt_of_the_task_that_it_names():
    served = served_by()
    signature = generate.offer(served.recipe)
    assert list(signature.inputs) == ["text", "task"] and signature.choices == {"task": ("first", "second")}
    texts, tasks = tf.constant(["w3 w4"] * 3), tf.constant(["second", "", "first"])
    found = signature.function(served, texts, tasks)["log_probability"].numpy()
    for place, number in ((0, 1), (2, 0)):
        one = served_by(number)
        assert list(generate.offer(one.recipe).inputs) == ["text"]
        expected = generate.generate(one, texts[:1])["log_probability"].numpy()[0]
        np.testing.assert_allclose(found[place], expected, rtol=1e-5)
    average = generate.generate(served, texts[:1])["log_probability"].numpy()[0]
    np.testing.assert_allclose(found[1], average, rtol=1e-5)
    assert len(set(found.round(3))) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)first, second.*third"):
        signature.function(served, texts[:1], tf.constant(["third"]))


def test_an_empty_batch_has_no_answers():
    task = LabelWords(labels=("0", "1"), words=("w1 w2", "w3"), target_tokens=4)
    model = TaskModel(model=SMALL, task=task, vocabulary_size=len(VOCABULARY), seed=3)
    model.build()
    sequences = Sequences(length=12, max_documents=1)
    recipe = types.SimpleNamespace(goal=task, trained_by=None, sequences=sequences)
    served = Served(model, WordPieceTokenizer(VOCABULARY), recipe)
    inputs = tf.ragged.constant([[7, 8], [9]], dtype=tf.int32)
    # In a graph: op by op Keras adds biases to an empty batch in another way.
    asked = tf.function(
        lambda inputs: label_log_probabilities(served, inputs),
        [tf.RaggedTensorSpec([None, None], tf.int32)],
        autograph=False,
    )
    assert asked(inputs).shape == (2, 2)
    assert asked(inputs[:0]).shape == (0, 2)


def test_each_record_is_answered_by_the_prompt_of_its_task():
    rows = {
        names.RAW_TOKENS: tf.constant([[7, 8, 9, 6], [7, 8, 9, 6], [0, 0, 0, 0]]),
        names.CHUNK_LENGTHS: tf.constant([[3, 1], [3, 1], [0, 0]]),
        names.DOCUMENT_KEYS: tf.constant([[5, 5], [6, 6], [0, 0]], tf.int64),
        names.TASK_IDS: tf.constant([[1], [0], [0]]),
    }
    found = answer_rows(served_by(), rows)[names.RECORD_PREDICTIONS].numpy()[:, 0]
    for place, number in ((0, 1), (1, 0)):
        expected = answer_rows(served_by(number), rows)[names.RECORD_PREDICTIONS].numpy()[place, 0]
        np.testing.assert_allclose(found[place], expected, rtol=1e-5)
    assert abs(found[0] - found[1]) > 1e-3 and found[2] == 0


@pytest.mark.parametrize(("goal", "writes"), [(SpanCorruption(), True), (TextToText(target_tokens=4), False)])
def test_only_models_that_learned_sentinels_write_them(goal, writes):
    pieces = [*VOCABULARY, "<extra_id_1>", "<extra_id_0>"]
    tokenizer = WordPieceTokenizer(pieces)
    recipe = types.SimpleNamespace(
        goal=goal,
        sequences=Sequences(length=12, max_documents=1),
        model=SMALL,
        tokenizer=types.SimpleNamespace(vocabulary_size=len(pieces)),
    )
    may_write = framing_of(recipe, tokenizer).may_write
    assert may_write[tokenizer.sentinel_ids].tolist() == [writes, writes]
    # The signature of a task lets the same pieces be written as `generate` does in Python.
    assert may_write[tokenizer.tokenize("w1 w2").numpy()].all() and not may_write[tokenizer.mask_id]
