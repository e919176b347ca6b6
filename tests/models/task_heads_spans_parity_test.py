"""Parity with transformers' BertForQuestionAnswering, by what golden/make_transformers_golden.py wrote."""

import functools

import keras
import numpy as np
import pytest

# Weights of transformers are read next to tokenizers, which need KerasHub.
pytest.importorskip("keras_hub", reason="needs KerasHub")

from firth.interop.hugging_face.families import FAMILIES
from firth.interop.hugging_face.rules import linear
from firth.models import TaskModel, example_sums, total_loss
from firth.recipes.tasks.span import SpanAnswering
from tests.backends.gradients import compiled
from tests.models import references

ENDS = ("start", "end")


@functools.cache
def given():
    return references.read_golden("bert_spans")


@functools.cache
def model() -> TaskModel:
    """Our model with the reference's weights."""
    shape = references.REFERENCES["bert"].model
    made = TaskModel(shape, SpanAnswering(), references.VOCABULARY, dtype="float32")
    made.build()
    rules = [*FAMILIES["bert"].backbone_rules(shape), *linear("qa_outputs", "heads/dense")]
    references.copy_by_rules(made, rules, given())
    return made


def features(records=slice(None)) -> dict[str, np.ndarray]:
    ids = given()["input/input_ids"][records]
    count, length = ids.shape
    integers = {
        "token_ids": ids,
        "position_ids": np.tile(np.arange(length), (count, 1)),
        "document_ids": given()["input/attention_mask"][records],
        "segment_ids": given()["input/token_type_ids"][records],
        "pooled_positions": np.zeros((count, 1)),
        **{f"{end}_labels": given()[f"input/{end}_positions"][records][:, None] for end in ENDS},
    }
    weights = {"record_weights": np.ones((count, 1), "float32")}
    return {name: value.astype("int32") for name, value in integers.items()} | weights


def losses_of(records=slice(None)):
    return total_loss(example_sums(model()(features(records))), SpanAnswering().losses)


def test_logits():
    found = compiled(model().logits)(features())
    real = given()["input/attention_mask"] > 0
    for end in ENDS:
        values = keras.ops.convert_to_numpy(found[end])[:, 0]
        np.testing.assert_allclose(values[real], given()[f"logits/{end}"][real], rtol=0, atol=1e-4)


def test_the_loss_is_theirs_where_nothing_is_padding():
    assert abs(float(losses_of(slice(1))["loss"]) - float(given()["loss/theirs"])) < 1e-4


def test_the_loss_before_and_after_a_step():
    before = float(np.mean([given()[f"loss/{end}"] for end in ENDS]))
    references.check_step(model(), lambda: losses_of()["loss"], before, given())
