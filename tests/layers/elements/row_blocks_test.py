"""A function of rows gives the same in blocks."""

import numpy as np
import pytest
from keras import ops

from firth.layers.elements.row_blocks import in_row_blocks
from tests.backends.gradients import derivative

ROWS, SHARED = (np.random.default_rng(seed).normal(size=(2, 7, 3)).astype("float32") for seed in (0, 1))


def scores(begin, end, own, shared):
    return ops.matmul(ops.tanh(ops.matmul(own[0], ops.transpose(shared[0], (0, 2, 1)))), shared[0])


@pytest.mark.parametrize(("size", "loops"), [(2, 1), (2, 2), (7, 1), (100, 1)])
def test_blocks_give_the_value_and_the_gradient_of_all_rows(size, loops):
    def both(function):
        """The same numbers are rows and what is shared."""
        return lambda values: function(ops.convert_to_tensor(values))

    whole = both(lambda values: scores(0, 7, (values,), (values,)))
    blocks = both(lambda values: in_row_blocks(scores, (values,), (values,), size, loops))
    np.testing.assert_allclose(np.array(blocks(ROWS)), np.array(whole(ROWS)), atol=1e-6)
    np.testing.assert_allclose(derivative(blocks, ROWS, SHARED), derivative(whole, ROWS, SHARED), atol=1e-5)


@pytest.mark.parametrize(("loops", "ends"), [(1, [6, 6, 6, 7]), (2, [2, 6, 6, 7])])
def test_a_block_knows_where_it_begins_and_where_its_loop_ends(loops, ends):
    def function(begin, end, own, shared):
        told = ops.stack([ops.cast(begin, "float32"), ops.cast(end, "float32"), own[0].shape[-2]])
        return own[0] * 0 + told * shared[0]

    found = np.array(in_row_blocks(function, (ROWS,), (np.float32(1.0),), size=2, loops=loops))[0]
    assert found[:, 0].tolist() == [0, 0, 2, 2, 4, 4, 6]
    assert found[::2, 1].tolist() == ends
    assert found[:, 2].tolist() == [2] * 6 + [1]
