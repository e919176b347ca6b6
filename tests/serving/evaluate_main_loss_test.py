import numpy as np
import tensorflow as tf

from firth.models.predictions import Predictions
from firth.serving.evaluate import text_sums

# A special token, "ab", "a", a sentinel.
BYTES = np.array([0.0, 2.0, 1.0, 0.0], "float32")
UNIGRAM = np.log(np.array([0.1, 0.2, 0.4, 0.3], "float32"))


def sums(batch, losses, weights):
    shape = np.shape(losses)
    main = Predictions(np.array(losses, "float32"), np.zeros(shape, "float32"), np.array(weights, "float32"))
    made = text_sums({name: tf.constant(value) for name, value in batch.items()}, main, UNIGRAM, BYTES)
    return {name: value.numpy().tolist() for name, value in made.items()}


def test_a_sentinel_and_the_end_of_a_document_are_not_text():
    weights = [[1.0, 1.0, 1.0, 1.0]]
    made = sums({"label_ids": [[3, 1, 2, 0]], "label_weights": weights}, [[9.0, 2.0, 0.5, 7.0]], weights)
    expected = {
        "text_loss_sum": 2.5,
        "text_weight_sum": 2.0,
        "unigram_loss_sum": -np.log(0.2) - np.log(0.4),
        "bytes_sum": 3.0,
    }
    assert set(made) == set(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(made[name], [value], rtol=1e-6)


def test_what_is_not_predicted_adds_nothing():
    weights = [[0.0, 1.0], [0.0, 0.0]]
    made = sums({"masked_labels": [[1, 2], [1, 1]], "masked_weights": weights}, [[9.0, 2.0]] * 2, weights)
    assert made["text_loss_sum"] == [2.0, 0.0]
    assert made["bytes_sum"] == [1.0, 0.0]


def test_both_directions_count_in_the_order_of_the_models_losses():
    batch = {
        "label_ids": [[1, 0]],
        "label_weights": [[1.0, 1.0]],
        "backward_label_ids": [[0, 2]],
        "backward_label_weights": [[1.0, 1.0]],
    }
    made = sums(batch, [[1.0, 10.0, 100.0, 1000.0]], [[1.0] * 4])
    assert made["text_loss_sum"] == [1001.0]
    assert made["bytes_sum"] == [3.0]
