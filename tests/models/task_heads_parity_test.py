"""Parity with transformers' models of tasks, through what golden/make_transformers_golden.py wrote down."""

import functools

import keras
import numpy as np
import pytest

# Weights of transformers are read next to tokenizers, which need KerasHub.
pytest.importorskip("keras_hub", reason="needs KerasHub")

from firth.interop.hugging_face.families import FAMILIES
from firth.interop.hugging_face.rules import linear
from firth.models import TaskModel, example_sums, total_loss
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.tagging import Tagging
from tests.backends.gradients import compiled, gradients
from tests.models import references
from tests.models.weights import copy_weights

POOLER = [("bert.pooler.dense", "heads/pooler/dense")]
DENSE = [("classifier", "heads/dense")]
NO_DROPOUT = {"dropout": 0.0}
TASKS = {
    "bert_tags": (Tagging(labels=("O", "B-A", "I-A"), **NO_DROPOUT), DENSE),
    "bert_classes": (Classification(labels=("a", "b", "c"), pair=True, **NO_DROPOUT), POOLER + DENSE),
    "bert_numbers": (Regression(pair=True, **NO_DROPOUT), POOLER + DENSE),
}
RATE = 0.01
tasks = pytest.mark.parametrize("name", TASKS)


@functools.cache
def model_of(name: str) -> TaskModel:
    """Returns our model with the reference's weights."""
    shape = references.REFERENCES["bert"].model
    task, layers = TASKS[name]
    made = TaskModel(model=shape, task=task, vocabulary_size=references.VOCABULARY, dtype="float32")
    made.build()
    given = references.read_golden(name)
    rules = [*FAMILIES["bert"].backbone_rules(shape), *(rule for each in layers for rule in linear(*each))]
    copy_weights(
        made, {rule.ours: rule.read(*(given[f"weight/{each}"] for each in rule.theirs)) for rule in rules}
    )
    return made


def features_of(name: str) -> dict[str, np.ndarray]:
    given = references.read_golden(name)
    ids, labels = given["input/input_ids"], given["input/labels"]
    features = {
        "token_ids": ids,
        "position_ids": np.tile(np.arange(ids.shape[1]), (len(ids), 1)),
        "document_ids": given["input/attention_mask"],
        "segment_ids": given.get("input/token_type_ids", np.zeros_like(ids)),
    }
    if labels.ndim == 2:
        features |= {"label_ids": np.maximum(labels, 0), "label_weights": (labels >= 0).astype("float32")}
    else:
        features["pooled_positions"] = np.zeros((len(ids), 1))
        features |= {"record_labels": labels[:, None], "record_weights": np.ones((len(ids), 1), "float32")}
    return {
        key: value if value.dtype == "float32" else value.astype("int32") for key, value in features.items()
    }


def loss_of(model: TaskModel, features: dict[str, np.ndarray]):
    (name,) = model.heads.labels(features)
    return total_loss(example_sums(model(features)), {name: 1.0})["loss"]


@tasks
def test_logits(name):
    model, given = model_of(name), references.read_golden(name)
    (found,) = compiled(model.logits)(features_of(name)).values()
    found, real = keras.ops.convert_to_numpy(found), given["input/attention_mask"] > 0
    if found.shape[1] == 1:
        np.testing.assert_allclose(found[:, 0], given["logits"], rtol=0, atol=1e-4)
    else:
        np.testing.assert_allclose(found[real], given["logits"][real], rtol=0, atol=1e-4)


@tasks
def test_the_loss_before_and_after_a_step(name):
    """The second loss is that of weights which have followed all gradients once."""
    model, features, given = model_of(name), features_of(name), references.read_golden(name)
    (before,) = (float(given[f"loss/{each}"]) for each in TASKS[name][0].losses)
    assert abs(float(loss_of(model, features)) - before) < 1e-4
    saved = model.get_weights()
    try:
        for variable, gradient in zip(
            model.trainable_variables, gradients(model, lambda: loss_of(model, features)).values()
        ):
            if gradient is not None:
                variable.assign(keras.ops.convert_to_numpy(variable) - RATE * gradient)
        after = float(loss_of(model, features))
    finally:
        model.set_weights(saved)
    assert abs(after - float(given["loss/after"])) < 1e-4
    assert abs(after - before) > 1e-2
