"""Positions against formulas and numbers of the papers."""

import math

import numpy as np
import pytest

from firth import layers
from firth.layers.positions.relative_bucket_bias import buckets_by_distance
from tests.backends.gradients import derivative


def test_sinusoids_by_formula():
    width, places = 6, np.array([[0, 1, 7, 300]])
    found = np.array(layers.SinusoidalPositions(width)(places))[0]
    for row, place in enumerate(places[0]):
        for column in range(width):
            angle = place / 10_000 ** (2 * (column // 2) / width)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert found[row, column] == pytest.approx(expected, abs=1e-4)


def test_rotation_by_complex_numbers():
    """The elements i and i + d/2 are a complex number that is turned by `position * base ** (-2 i / d)`."""
    generator = np.random.default_rng(0)
    heads = generator.normal(size=(5, 2, 3, 4, 6)).astype("float32")
    places = np.array([[0, 1, 2, 3], [0, 0, 1, 50]])
    angles = layers.RotaryPositions(head_width=6, base=100.0)(places)
    found = np.array(layers.rotate(heads, angles))
    turn = np.exp(1j * places[:, None, :, None] * 100.0 ** (-np.arange(3) / 3))
    expected = (heads[..., :3] + 1j * heads[..., 3:]) * turn
    np.testing.assert_allclose(found[..., :3], expected.real, atol=1e-5)
    np.testing.assert_allclose(found[..., 3:], expected.imag, atol=1e-5)


def test_rotated_products_depend_on_the_distance_alone():
    query, key = np.random.default_rng(0).normal(size=(2, 1, 1, 1, 8)).astype("float32")
    rotary = layers.RotaryPositions(head_width=8)

    def product(query_place, key_place):
        turned = [
            np.array(layers.rotate(head, rotary(np.array([[place]]))))
            for head, place in ((query, query_place), (key, key_place))
        ]
        return float(np.sum(turned[0] * turned[1]))

    assert product(5, 3) == pytest.approx(product(45, 43), abs=1e-4)
    assert product(5, 3) != pytest.approx(product(3, 5), abs=1e-2)


def test_derivative_of_a_rotation():
    generator = np.random.default_rng(0)
    heads, direction = generator.normal(size=(2, 1, 1, 3, 4))
    angles = np.array(layers.RotaryPositions(head_width=4)(np.array([[0, 1, 2]])))
    found = derivative(lambda x: layers.rotate(x, angles), heads, direction)
    back = angles * np.array([1, -1]).reshape(1, 2, 1, 1)
    np.testing.assert_allclose(found, np.array(layers.rotate(direction.astype("float32"), back)), atol=1e-6)


def test_llama_3_1_frequencies_by_hand():
    """Base 16 and width 8: frequencies 1, 1/2, 1/4, 1/8, wavelengths of 2 pi times 1, 2, 4 and 8.

    Of a context of 8 pi, the first turns 4 times and stays, the second turns twice and is 1/3 of the way
    from 1 to 4, the third turns once and is slowed down in full, as is the last.
    """
    scaling = {"factor": 8.0, "low_frequency_factor": 1.0, "high_frequency_factor": 4.0}
    layer = layers.RotaryPositions(8, base=16.0, scaling={**scaling, "original_length": 8 * math.pi})
    found = np.array(layer(np.array([[1]])))[0, :, 0]
    expected = np.array([1.0, 0.5 * (1 / 3 + 2 / 3 / 8), 0.25 / 8, 0.125 / 8])
    np.testing.assert_allclose(found, [np.cos(expected), np.sin(expected)], atol=1e-6)


# Distances, key less query, of the first and the last place in each bucket of T5: 32 buckets, 128 distances.
# After 8 exact ones, bucket 8 + n begins at 8 * 16 ** (n / 8), rounded up: 8, 12, 16, 23, 32, 46, 64, 91.
STARTS = [8, 12, 16, 23, 32, 46, 64, 91]


def test_bidirectional_buckets_of_t5():
    found = buckets_by_distance(32, 128, bidirectional=True)
    of = dict(zip(range(-128, 129), found))
    assert [of[-distance] for distance in range(8)] == list(range(8))
    for number, start in enumerate(STARTS):
        assert (of[-start], of[1 - start]) == (8 + number, 7 + number)
        assert (of[start], of[start - 1]) == (24 + number, 23 + number)
    assert of[-128] == 15 and of[128] == 31


def test_causal_buckets_of_t5():
    of = dict(zip(range(-128, 129), buckets_by_distance(32, 128, bidirectional=False)))
    assert [of[-distance] for distance in range(17)] == list(range(17))
    # After 16 exact ones, bucket 16 + n begins at 16 * 8 ** (n / 16), rounded up.
    assert (of[-18], of[-19], of[-112], of[-113], of[-128]) == (16, 17, 30, 31, 31)
    assert {of[distance] for distance in range(129)} == {0}


def test_bias_by_hand():
    layer = layers.RelativeBucketBias(heads=2, buckets=4, max_distance=2, bidirectional=True)
    layer.build()
    layer.table.assign([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0], [3.0, 13.0]])
    places = np.array([[0, 1, 2]])
    # Bucket 0 is the token itself, 1 are those before it, 3 those after it.
    first = [[0, 3, 3], [1, 0, 3], [1, 1, 0]]
    found = np.array(layer(places, places))
    assert found[0, 0].tolist() == first
    assert (found[0, 1] - found[0, 0] == 10.0).all()
    assert np.array(layer(places[:, 2:], places))[0, 0].tolist() == first[2:]
