"""Losses and the sums that they come from."""

import keras
import numpy as np
import pytest

from firth.features import PARTS_OF_LOSS, evaluation_sums
from firth.models import Predictions, example_sums, predictions_of_logits, total_loss

LOSSES = {"mlm": 1.0, "nsp": 1.0}
HIT, MISS = -np.log(3 / 4), -np.log(1 / 4)


def literal_predictions(dtype="float32") -> dict[str, Predictions]:
    """Two rows. Logits of [0, ln 3] give the second piece 3/4 and the first 1/4."""
    logits = np.tile([0.0, np.log(3.0)], (2, 3, 1)).astype("float32")
    made = {}
    for name, labels, weights in (
        ("mlm", [[1, 0, 1], [0, 0, 0]], [[1, 1, 0], [1, 0, 0]]),
        ("nsp", [[1, 0], [0, 0]], [[1, 0], [0, 0]]),
    ):
        labels = np.array(labels, "int32")
        given = keras.ops.cast(logits[:, : labels.shape[1]], dtype)
        made[name] = predictions_of_logits(given, labels, np.array(weights, "float32"))
    return made


def test_sums_by_hand():
    sums = example_sums(literal_predictions())
    assert list(sums) == [f"{loss}_{part}" for loss in LOSSES for part in PARTS_OF_LOSS]
    # Served models add what the metrics of text need.
    assert list(sums) == list(evaluation_sums(LOSSES))[: len(sums)]
    expected = [[HIT + MISS, MISS], [1, 0], [2, 1], [HIT, 0], [1, 0], [1, 0]]
    for (name, found), values in zip(sums.items(), expected):
        assert keras.backend.standardize_dtype(found.dtype) == "float32"
        np.testing.assert_allclose(np.array(found), values, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("factor", [1.0, 50.0])
def test_the_loss_of_a_batch_is_the_weighted_sum_of_means(factor):
    """A mean over the predictions of the batch, not of the means of its rows."""
    losses = total_loss(example_sums(literal_predictions()), {"mlm": 1.0, "nsp": factor})
    assert list(losses) == ["loss", "mlm_loss", "nsp_loss"]
    assert float(losses["mlm_loss"]) == pytest.approx((HIT + 2 * MISS) / 3, abs=1e-6)
    assert float(losses["nsp_loss"]) == pytest.approx(HIT, abs=1e-6)
    assert float(losses["loss"]) == pytest.approx((HIT + 2 * MISS) / 3 + factor * HIT, rel=1e-6)


def test_where_nothing_is_predicted_the_loss_is_zero():
    predictions = {
        name: made._replace(weights=keras.ops.zeros_like(made.weights))
        for name, made in literal_predictions().items()
    }
    losses = total_loss(example_sums(predictions), LOSSES)
    assert {name: float(value) for name, value in losses.items()} == dict.fromkeys(losses, 0.0)


def test_bfloat16_logits_are_summed_in_float32():
    exact = example_sums(literal_predictions())
    for name, value in example_sums(literal_predictions("bfloat16")).items():
        assert keras.backend.standardize_dtype(value.dtype) == "float32"
        np.testing.assert_allclose(np.array(value), np.array(exact[name]), atol=0.02, err_msg=name)
