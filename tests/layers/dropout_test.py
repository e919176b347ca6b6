"""Dropout drops at its rate, whatever the rate, and keeps the mean."""

import numpy as np
import pytest

from firth.layers import Dropout
from firth.layers.dropout import random_bytes
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
