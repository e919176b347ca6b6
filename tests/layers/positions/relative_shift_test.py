"""Scores by distance come to stand where their keys do, and so do their gradients."""

import keras
import numpy as np
import pytest

from firth.layers.positions.relative_shift import relative_shift, relative_shift_at
from tests.backends.gradients import compiled, derivative

BATCH, HEADS = 2, 3


def columns(length: int) -> np.ndarray:
    """For each query and key the column of their distance."""
    places = np.arange(length)
    return length - (places[:, None] - places[None])


def scores(length: int, rows: int | None = None) -> np.ndarray:
    shape = (BATCH, HEADS, rows or length, 2 * length)
    return np.random.default_rng(length).normal(size=shape).astype("float32")


@pytest.mark.parametrize("length", [1, 2, 5])
def test_every_query(length):
    given = scores(length)
    expected = np.stack([given[:, :, i, columns(length)[i]] for i in range(length)], axis=2)
    np.testing.assert_array_equal(keras.ops.convert_to_numpy(relative_shift(given)), expected)


def test_gradient_of_every_query():
    given, direction = scores(4), scores(4)[..., :4]
    expected = np.zeros_like(given)
    for i in range(4):
        expected[:, :, i, columns(4)[i]] = direction[:, :, i]
    np.testing.assert_array_equal(derivative(relative_shift, given, direction), expected)


POSITIONS = np.array([[4, 0, 2], [1, 1, 3]], "int32")


def test_some_queries():
    given = scores(5, rows=3)
    found = keras.ops.convert_to_numpy(relative_shift_at(given, POSITIONS))
    for row, positions in enumerate(POSITIONS):
        for place, position in enumerate(positions):
            expected = given[row, :, place, columns(5)[position]].T
            np.testing.assert_array_equal(found[row, :, place], expected)


def test_gradient_of_some_queries():
    given, direction = scores(5, rows=3), scores(5, rows=3)[..., 2:7]
    expected = np.zeros_like(given)
    for row, positions in enumerate(POSITIONS):
        for place, position in enumerate(positions):
            expected[row, :, place, columns(5)[position]] = direction[row, :, place].T
    found = derivative(lambda values: relative_shift_at(values, POSITIONS), given, direction)
    np.testing.assert_array_equal(found, expected)


def test_compiled_equals_eager():
    given = scores(5)
    np.testing.assert_array_equal(np.array(compiled(relative_shift)(given)), np.array(relative_shift(given)))


def test_some_queries_of_a_row():
    """Their distances are counted from the first query and the first key."""
    given = np.random.default_rng(0).normal(size=(BATCH, HEADS, 3, 3 + 7)).astype("float32")
    places = np.array([[3 - (i - j) for j in range(7)] for i in range(3)])
    expected = np.stack([given[:, :, i, places[i]] for i in range(3)], axis=2)
    np.testing.assert_array_equal(keras.ops.convert_to_numpy(relative_shift(given)), expected)
    found = derivative(relative_shift, given, np.ones_like(expected))
    read = np.zeros_like(given)
    for row in range(3):
        read[:, :, row, places[row]] = 1
    np.testing.assert_array_equal(found, read)
