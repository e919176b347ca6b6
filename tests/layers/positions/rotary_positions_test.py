"""Rotation against complex numbers, and the frequencies of Llama 3.1 by hand."""

import math

import numpy as np
import pytest

from firth import layers
from firth.layers.positions.rotary_positions import rotate
from tests.backends.gradients import derivative


def test_rotation_by_complex_numbers():
    """The elements i and i + d/2 are a complex number that is turned by `position * base ** (-2 i / d)`."""
    generator = np.random.default_rng(0)
    heads = generator.normal(size=(5, 2, 3, 4, 6)).astype("float32")
    places = np.array([[0, 1, 2, 3], [0, 0, 1, 50]])
    angles = layers.RotaryPositions(head_width=6, base=100.0)(places)
    found = np.array(rotate(heads, angles))
    turn = np.exp(1j * places[:, None, :, None] * 100.0 ** (-np.arange(3) / 3))
    expected = (heads[..., :3] + 1j * heads[..., 3:]) * turn
    np.testing.assert_allclose(found[..., :3], expected.real, atol=1e-5)
    np.testing.assert_allclose(found[..., 3:], expected.imag, atol=1e-5)


def test_rotated_products_depend_on_the_distance_alone():
    query, key = np.random.default_rng(0).normal(size=(2, 1, 1, 1, 8)).astype("float32")
    rotary = layers.RotaryPositions(head_width=8)

    def product(query_place, key_place):
        turned = [
            np.array(rotate(head, rotary(np.array([[place]]))))
            for head, place in ((query, query_place), (key, key_place))
        ]
        return float(np.sum(turned[0] * turned[1]))

    assert product(5, 3) == pytest.approx(product(45, 43), abs=1e-4)
    assert product(5, 3) != pytest.approx(product(3, 5), abs=1e-2)


def test_derivative_of_a_rotation():
    generator = np.random.default_rng(0)
    heads, direction = generator.normal(size=(2, 1, 1, 3, 4))
    angles = np.array(layers.RotaryPositions(head_width=4)(np.array([[0, 1, 2]])))
    found = derivative(lambda x: rotate(x, angles), heads, direction)
    back = angles * np.array([1, -1]).reshape(1, 2, 1, 1)
    np.testing.assert_allclose(found, np.array(rotate(direction.astype("float32"), back)), atol=1e-6)


def test_llama_3_1_frequencies_by_hand():
    """Base 16 and width 8: frequencies 1, 1/2, 1/4, 1/8, wavelengths of 2 pi times 1, 2, 4 and 8.

    Of a context of 8, the first turns 4 / pi times and stays, the second turns 2 / pi times and is 1/3 of the
    way from 1 / pi to 4 / pi, the third turns 1 / pi times and is slowed down in full, as is the last.
    """
    scaling = {"factor": 8.0, "low_frequency_factor": 1 / math.pi, "high_frequency_factor": 4 / math.pi}
    layer = layers.RotaryPositions(8, base=16.0, scaling={**scaling, "original_length": 8})
    found = np.array(layer(np.array([[1]])))[0, :, 0]
    expected = np.array([1.0, 0.5 * (1 / 3 + 2 / 3 / 8), 0.25 / 8, 0.125 / 8])
    np.testing.assert_allclose(found, [np.cos(expected), np.sin(expected)], atol=1e-6)
