"""Products whose gradients need no transposed copy, against the plain product."""

import keras
import numpy as np
import pytest
from keras import ops

from firth.layers.elements.custom_gradient import times_rows, times_transposed
from tests.backends.gradients import Scalars, gradients


class Inputs(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        generator = np.random.default_rng(0)
        self.states, self.kernel = (Scalars(generator.normal(size=size)) for size in ((5, 3), (4, 3)))


def test_value_and_gradients_are_those_of_the_plain_product():
    inputs, upstream = Inputs(), np.random.default_rng(1).normal(size=(5, 4)).astype("float32")
    states, kernel = np.array(inputs.states.values), np.array(inputs.kernel.values)

    def product():
        return times_transposed(inputs.states.values + 0.0, inputs.kernel.values + 0.0)

    np.testing.assert_allclose(np.array(product()), states @ kernel.T, rtol=1e-5)
    found = gradients(inputs, lambda: ops.sum(product() * upstream))
    np.testing.assert_allclose(found[inputs.states.values.path], upstream @ kernel, rtol=1e-5)
    np.testing.assert_allclose(found[inputs.kernel.values.path], upstream.T @ states, rtol=1e-5)


@pytest.mark.parametrize("at_once", [None, 1, 3, 4, 7, 8])
def test_a_table_in_parts_gives_the_same_columns(at_once):
    generator = np.random.default_rng(2)
    states, table = (generator.normal(size=size).astype("float32") for size in ((5, 3), (7, 3)))
    found = np.array(times_rows(states, ops.convert_to_tensor(table), at_once))
    np.testing.assert_allclose(found, states @ table.T, rtol=1e-5, atol=1e-6)
