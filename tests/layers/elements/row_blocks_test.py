"""A function of rows gives the same in blocks."""

import numpy as np
import pytest
from keras import ops

from firth.layers.elements.row_blocks import in_row_blocks
from tests.backends.gradients import derivative

ROWS, SHARED = (np.random.default_rng(seed).normal(size=(2, 7, 3)).astype("float32") for seed in (0, 1))


def scores(begin, own, shared):
    return ops.matmul(ops.tanh(ops.matmul(own[0], ops.transpose(shared[0], (0, 2, 1)))), shared[0])


@pytest.mark.parametrize("size", [2, 7, 100])
def test_blocks_give_the_value_and_the_gradient_of_all_rows(size):
    def both(function):
        """The same numbers are rows and what is shared."""
        return lambda values: function(ops.convert_to_tensor(values))

    whole = both(lambda values: scores(0, (values,), (values,)))
    blocks = both(lambda values: in_row_blocks(scores, (values,), (values,), size))
    np.testing.assert_allclose(np.array(blocks(ROWS)), np.array(whole(ROWS)), atol=1e-6)
    np.testing.assert_allclose(derivative(blocks, ROWS, SHARED), derivative(whole, ROWS, SHARED), atol=1e-5)


def test_a_block_knows_where_it_begins():
    seen = []

    def function(begin, own, shared):
        seen.append((begin, own[0].shape[-2]))
        return own[0] * shared[0]

    in_row_blocks(function, (ROWS,), (np.float32(1.0),), size=3)
    assert seen == [(0, 3), (3, 3), (6, 1)]
