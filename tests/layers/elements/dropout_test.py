"""Dropout drops at its rate, whatever the rate, and keeps the mean."""

import keras
import numpy as np
import pytest

from firth.layers import Dropout
from firth.layers.elements.dropout import random_bytes
from firth.layers.elements.noise import ExampleNoise, example_noise, random_words
from tests.backends.gradients import derivative


@pytest.mark.parametrize("rate", [0.1, 0.333, 0.5, 0.9])
def test_drops_at_the_rate(rate):
    layer = Dropout(rate, seed=1)
    ones = np.ones((40, 500), "float32")
    outputs = np.stack([np.array(layer(ones, training=True)) for _ in range(10)])
    assert set(np.unique(outputs).tolist()) == {0.0, float(np.float32(1) * np.float32(1 / (1 - rate)))}
    # Five standard errors of 200,000 draws.
    assert abs((outputs == 0).mean() - rate) < 5 * np.sqrt(rate * (1 - rate) / outputs.size) + 1 / 256 / 5


def test_the_threshold_is_rounded_at_random():
    layer = Dropout(0.1, seed=1)
    # 0.1 * 256 is 25.6: sixty of a hundred thresholds are 26, the others 25.
    thresholds = [int(layer._threshold()) for _ in range(200)]
    assert set(thresholds) == {25, 26}
    assert abs(np.mean(thresholds) - 25.6) < 0.15


def test_bytes_are_uniform_and_independent():
    found = np.array(random_bytes((512, 129), seed=3)).astype("int64")
    assert found.shape == (512, 129)
    counts = np.bincount(found.flatten(), minlength=256)
    expected = found.size / 256
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < 255 + 5 * np.sqrt(2 * 255)
    correlations = [np.corrcoef(found.flatten()[:-lag], found.flatten()[lag:])[0, 1] for lag in (1, 2, 4)]
    assert np.abs(correlations).max() < 5 / np.sqrt(found.size)


def test_the_gradient_passes_where_the_value_did():
    values = np.arange(1.0, 65.0)
    layer = Dropout(0.5, seed=1)
    dropped = np.array(layer(values.astype("float32"), training=True))
    same_seed = Dropout(0.5, seed=1)
    found = derivative(lambda x: same_seed(x, training=True), values, np.ones(64))
    assert 0 < (dropped == 0).sum() < 64
    np.testing.assert_allclose(found, dropped / values)


def test_is_the_identity_outside_training():
    inputs = np.ones((2, 3), "float32")
    layer = Dropout(0.5, seed=1)
    np.testing.assert_array_equal(np.array(layer(inputs)), inputs)
    np.testing.assert_array_equal(np.array(layer(inputs, training=False)), inputs)


def keys_of(count):
    return np.random.default_rng(2).integers(-(2**31), 2**31, (count, 2)).astype("int32")


def dropped(layer, shape, keys, calls=1, parts=None):
    """Returns which values the last of some calls in one pass over a batch sets to zero."""
    with example_noise(keys):
        made = [np.array(layer(np.ones(shape, "float32"), parts, training=True)) for _ in range(calls)]
    return made[-1] == 0


@pytest.mark.parametrize("rate", [0.1, 0.333, 0.5, 0.9])
def test_examples_are_dropped_at_the_rate(rate):
    found = dropped(Dropout(rate), (400, 25, 51), keys_of(400))
    assert abs(found.mean() - rate) < 5 * np.sqrt(rate * (1 - rate) / found.size)
    # A given element is dropped in as many of 400 examples as the rate says.
    assert np.abs(found.mean(axis=0) - rate).max() < 6 * np.sqrt(rate * (1 - rate) / 400)


def test_what_is_dropped_follows_from_key_call_and_element():
    layer, keys = Dropout(0.5), keys_of(4)
    whole = dropped(layer, (4, 3, 70), keys)
    np.testing.assert_array_equal(dropped(layer, (2, 3, 70), keys[[3, 1]]), whole[[3, 1]])
    np.testing.assert_array_equal(dropped(layer, (12, 70), keys), whole.reshape(12, 70))
    last, second = Dropout(0.5, batch_axis=-1), Dropout(0.5, batch_axis=-2)
    np.testing.assert_array_equal(dropped(last, (3, 70, 4), keys), whole.transpose(1, 2, 0))
    np.testing.assert_array_equal(dropped(second, (3, 4, 70), keys), whole.transpose(1, 0, 2))
    masks = [*whole.reshape(4, -1), *dropped(layer, (4, 3, 70), keys, calls=2).reshape(4, -1)]
    assert np.abs(np.corrcoef(masks) - np.eye(8)).max() < 5 / np.sqrt(210)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="axes have no unknown length elsewhere")
def test_axes_of_unknown_length_drop_the_same():
    """As where batches of several sizes are read, for which Keras lets TensorFlow trace a common graph."""
    import tensorflow as tf

    layer, keys = Dropout(0.5), keys_of(4)

    @tf.function(
        input_signature=[tf.TensorSpec([None, 3, None]), tf.TensorSpec([None, 2], tf.int32)], autograph=False
    )
    def call(inputs, keys):
        with example_noise(keys):
            return layer(inputs, training=True)

    found = np.array(call(np.ones((4, 3, 70), "float32"), keys)) == 0
    np.testing.assert_array_equal(found, dropped(layer, (4, 3, 70), keys))


def test_parts_of_examples_are_dropped_by_their_number():
    layer, keys = Dropout(0.5, batch_axis=-4), keys_of(3)
    examples, numbers = np.array([0, 0, 1, 2]), np.array([0, 1, 0, 5])
    whole = dropped(layer, (4, 1, 2, 8, 8), keys, parts=(examples, numbers))
    some = dropped(layer, (2, 1, 2, 8, 8), keys[[2, 0]], parts=(np.array([0, 1]), np.array([5, 1])))
    np.testing.assert_array_equal(some, whole[[3, 1]])
    assert np.abs(np.corrcoef(whole.reshape(4, -1)) - np.eye(4)).max() < 5 / np.sqrt(128)


def test_what_a_batch_shares_follows_from_the_seed():
    layer, other = (Dropout(0.5, batch_axis=None, seed=1) for _ in range(2))
    np.testing.assert_array_equal(dropped(layer, (8, 8), keys_of(2)), dropped(other, (8, 8), keys_of(3)))


def test_bits_of_examples_are_uniform_and_independent():
    """Of examples, elements and calls, also where their first keys differ by a bit."""
    keys = np.concatenate([keys_of(31), [[1, 0], [0, 0], [2, 0]]]).astype("int32")
    noise = ExampleNoise(keys)
    words = np.stack([np.array(random_words(noise.draw_keys(), 512)) for _ in range(8)])
    found = words.view("uint8").astype("int64")
    counts = np.bincount(found.flatten(), minlength=256)
    chi_square = ((counts - found.size / 256) ** 2 / (found.size / 256)).sum()
    assert chi_square < 255 + 5 * np.sqrt(2 * 255)
    bits = np.unpackbits(words.view("uint8"), axis=-1).astype("float64").reshape(8 * 34, -1)
    limit = 6 / np.sqrt(bits.shape[1])
    assert np.abs(np.corrcoef(bits) - np.eye(len(bits))).max() < limit
    columns = found.reshape(8 * 34, 512, 4)
    for lag in (1, 2, 4):
        one, other = columns[:, :-lag].flatten(), columns[:, lag:].flatten()
        assert abs(np.corrcoef(one, other)[0, 1]) < 5 / np.sqrt(one.size)
    uniform = np.array(ExampleNoise(keys_of(200)).draw_uniform(100))
    assert uniform.min() >= 0 and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 5 / np.sqrt(12 * 20_000)
