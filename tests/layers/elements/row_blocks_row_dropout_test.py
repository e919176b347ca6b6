"""A block of a matrix gets the dropout that the whole matrix has there."""

import numpy as np
import pytest
from keras import ops

from firth.layers import Dropout
from firth.layers.elements.noise import example_noise
from firth.layers.elements.row_blocks import RowDropout

KEYS = np.array([[3, -5], [70_000, 2]], "int32")


@pytest.mark.parametrize("columns", [8, 10, 7])
@pytest.mark.parametrize("part", [(0, None), (3, 6)])
@pytest.mark.parametrize("known", [False, True])
def test_factors_are_those_of_the_whole(columns, part, known):
    dropout, shape = Dropout(0.3, batch_axis=-4), (2, 3, 5, columns)
    cut = (part[0], part[1] or columns)
    with example_noise(KEYS):
        whole = np.array(dropout.factors(shape, training=True))
    with example_noise(KEYS):
        rows = RowDropout(dropout, 2, training=True)
    firsts = (1, cut[0]) if known else tuple(ops.convert_to_tensor(each) for each in (1, cut[0]))
    found = np.array(rows.factors(rows.tensors, (3, 5, columns), firsts, (3, cut[1] - cut[0]), "float32"))
    np.testing.assert_array_equal(found, whole[:, :, 1:4, cut[0] : cut[1]])


def test_without_keys_it_draws_some_and_without_training_none():
    dropout = Dropout(0.5, batch_axis=-4, seed=1)
    rows = RowDropout(dropout, 2, training=True)
    found = np.array(rows.factors(rows.tensors, (3, 8, 8), (0, 0), (8, 8), "float32"))
    assert set(np.unique(found)) == {0.0, 2.0}
    assert not (found[0] == found[1]).all()
    still = RowDropout(dropout, 2, training=False)
    assert still.factors(still.tensors, (3, 8, 8), (0, 0), (8, 8), "float32") is None
