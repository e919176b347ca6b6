"""Losses and the sums that they come from."""

import keras
import numpy as np
import pytest

from firth.models import cross_entropy, example_sums, total_loss
from tests.backends.gradients import derivative

SUMS = [f"{task}_{name}" for task in ("mlm", "nsp") for name in ("loss_sum", "correct_sum", "weight_sum")]


def log_softmax(logits):
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0])
def test_cross_entropy_and_its_derivative(scale):
    generator = np.random.default_rng(0)
    logits = (generator.normal(size=(5, 7)) * scale).astype("float32")
    labels, direction = np.array([0, 6, 3, 3, 1]), generator.normal(size=5)
    expected = -log_softmax(logits)[np.arange(5), labels]
    np.testing.assert_allclose(np.array(cross_entropy(logits, labels)), expected, rtol=1e-5, atol=1e-5)
    slope = (np.exp(log_softmax(logits)) - np.eye(7)[labels]) * direction[:, None]
    found = derivative(lambda x: cross_entropy(x, labels), logits, direction)
    np.testing.assert_allclose(found, slope, atol=1e-5)


def test_cross_entropy_of_an_impossible_label_is_finite():
    logits = np.array([[0.0, 1000.0]], "float32")
    assert float(cross_entropy(logits, np.array([0]))[0]) == 1000.0


def literal_batch():
    """Two rows. Logits of [0, ln 3] give the second piece 3/4 and the first 1/4."""
    three_to_one = [0.0, np.log(3.0)]
    features = {
        "masked_labels": [[1, 0, 1], [0, 0, 0]],
        "masked_weights": [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
        "next_sentence_labels": [[1, 0], [0, 0]],
        "next_sentence_weights": [[1.0, 0.0], [0.0, 0.0]],
    }
    outputs = {
        "masked_logits": np.tile(three_to_one, (2, 3, 1)),
        "next_sentence_logits": np.tile(three_to_one, (2, 2, 1)),
    }
    features = {
        name: np.array(value, "float32" if "weights" in name else "int32") for name, value in features.items()
    }
    return features, {name: value.astype("float32") for name, value in outputs.items()}


def test_sums_by_hand():
    hit, miss = -np.log(3 / 4), -np.log(1 / 4)
    sums = example_sums(*literal_batch())
    assert list(sums) == SUMS
    expected = [[hit + miss, miss], [1, 0], [2, 1], [hit, 0], [1, 0], [1, 0]]
    for name, values in zip(SUMS, expected):
        assert keras.backend.standardize_dtype(sums[name].dtype) == "float32"
        np.testing.assert_allclose(np.array(sums[name]), values, atol=1e-6, err_msg=name)
    losses = total_loss(sums)
    assert float(losses["mlm_loss"]) == pytest.approx((hit + 2 * miss) / 3, abs=1e-6)
    assert float(losses["nsp_loss"]) == pytest.approx(hit, abs=1e-6)
    assert float(losses["loss"]) == pytest.approx((hit + 2 * miss) / 3 + hit, abs=1e-6)


def test_without_next_sentence_logits_those_sums_are_zero():
    features, outputs = literal_batch()
    del outputs["next_sentence_logits"]
    sums = example_sums(features, outputs)
    assert list(sums) == SUMS
    for name in SUMS[3:]:
        np.testing.assert_array_equal(np.array(sums[name]), [0.0, 0.0])


def test_where_nothing_is_predicted_the_loss_is_zero():
    features, outputs = literal_batch()
    for name in ("masked_weights", "next_sentence_weights"):
        features[name] = np.zeros_like(features[name])
    losses = total_loss(example_sums(features, outputs))
    assert {name: float(value) for name, value in losses.items()} == {
        "loss": 0.0,
        "mlm_loss": 0.0,
        "nsp_loss": 0.0,
    }


def test_bfloat16_logits_are_summed_in_float32():
    features, outputs = literal_batch()
    outputs = {name: keras.ops.cast(value, "bfloat16") for name, value in outputs.items()}
    for value in example_sums(features, outputs).values():
        assert keras.backend.standardize_dtype(value.dtype) == "float32"
