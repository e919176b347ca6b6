"""Norms and activations whose gradients are written out equal differences of their values in float64."""

import keras
import numpy as np
import pytest

from firth.layers.elements.activations import get_activation
from firth.layers.elements.norms import LayerNorm, build_norm
from tests.backends.gradients import derivative, gradients

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(3, 2, 5)) * 3 + 1
DIRECTION = RANDOM.normal(size=INPUTS.shape)
GAIN, OFFSET = RANDOM.normal(size=5), RANDOM.normal(size=5)


def layer_norm(inputs, gain, offset):
    centred = inputs - inputs.mean(-1, keepdims=True)
    return gain * centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 0.5) + offset


def rms_norm(inputs, gain):
    return gain * inputs / np.sqrt((inputs**2).mean(-1, keepdims=True) + 0.5)


def gelu_approximate(inputs):
    return 0.5 * inputs * (1 + np.tanh(np.sqrt(2 / np.pi) * (inputs + 0.044715 * inputs**3)))


def silu(inputs):
    return inputs / (1 + np.exp(-inputs))


def differences(function, values, *others):
    """Returns the gradient of `sum(function * DIRECTION)` for `values`, by central differences."""
    found = np.zeros(values.shape)
    for place in np.ndindex(values.shape):
        step = np.zeros(values.shape)
        step[place] = 1e-5
        ends = [(function(values + sign * step, *others) * DIRECTION).sum() for sign in (1, -1)]
        found[place] = (ends[0] - ends[1]) / 2e-5
    return found


@pytest.mark.parametrize(
    ("kind", "biases", "by_hand", "weights"),
    [
        ("layer_norm", True, layer_norm, (GAIN, OFFSET)),
        ("layer_norm", False, lambda x, gain: layer_norm(x, gain, 0.0), (GAIN,)),
        ("rms_norm", True, rms_norm, (GAIN,)),
    ],
)
def test_norms(kind, biases, by_hand, weights):
    norm = build_norm(kind, epsilon=0.5, biases=biases)
    norm.build(INPUTS.shape)
    norm.set_weights(weights)
    inputs, direction = INPUTS.astype("float32"), DIRECTION.astype("float32")
    np.testing.assert_allclose(np.array(norm(inputs)), by_hand(INPUTS, *weights), atol=1e-5)
    np.testing.assert_allclose(
        derivative(norm, inputs, direction), differences(by_hand, INPUTS, *weights), atol=1e-4
    )
    found = gradients(norm, lambda: keras.ops.sum(norm(inputs) * direction))
    for place, value in enumerate(found.values()):
        expected = differences(
            lambda weight, place=place: by_hand(INPUTS, *weights[:place], weight, *weights[place + 1 :]),
            weights[place],
        )
        np.testing.assert_allclose(value, expected, atol=1e-4)


@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm"])
def test_norms_count_in_float32(kind):
    norm = build_norm(kind, epsilon=1e-6, dtype="mixed_bfloat16")
    # In bfloat16 the mean of these would be 1000 or 1004, and the gain 1.
    inputs = keras.ops.cast(np.array([[1000.0, 1004.0]]), "bfloat16")
    norm.build(inputs.shape)
    gain = np.array([1.0, 1.00390625 + 2**-9], "float32")
    norm.set_weights([gain, *norm.get_weights()[1:]])
    outputs = norm(inputs)
    assert keras.backend.standardize_dtype(outputs.dtype) == "bfloat16"
    expected = np.array([[-1.0, 1.0]] if kind == "layer_norm" else [[0.998, 1.002]]) * gain
    np.testing.assert_allclose(np.array(keras.ops.cast(outputs, "float32")), expected, atol=0.003)
    found = gradients(norm, lambda: keras.ops.sum(keras.ops.cast(norm(inputs), "float32") * 1.001))
    (for_gain, *_) = found.values()
    np.testing.assert_allclose(for_gain, expected[0] / gain, atol=0.003)


def test_other_axes_and_dtypes_are_keras_s_own():
    for options in ({"axis": 1}, {"scale": False}, {"dtype": "float64"}):
        ours, theirs = LayerNorm(**options), keras.layers.LayerNormalization(**options)
        np.testing.assert_allclose(np.array(ours(INPUTS)), np.array(theirs(INPUTS)), atol=1e-6)


@pytest.mark.parametrize("function", [gelu_approximate, silu])
def test_activations(function):
    activate = get_activation(function.__name__)
    points = np.linspace(-6, 6, INPUTS.size).reshape(INPUTS.shape)
    np.testing.assert_allclose(np.array(activate(points.astype("float32"))), function(points), atol=1e-5)
    np.testing.assert_allclose(
        derivative(activate, points.astype("float32"), DIRECTION.astype("float32")),
        differences(function, points),
        atol=1e-4,
    )
    extreme = derivative(activate, np.array([-1e18, -1e4, 0.0, 1e4, 1e18], "float32"), np.ones(5))
    np.testing.assert_allclose(extreme, [0.0, 0.0, 0.5, 1.0, 1.0])
