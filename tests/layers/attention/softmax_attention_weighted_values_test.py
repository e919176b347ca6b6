"""The written-out gradient of attention's core against the one that the backend derives step by step."""

import keras
import numpy as np
import pytest
from keras import ops

from firth.layers.attention.softmax_attention import weigh_values
from tests.backends.gradients import Scalars, gradients

SCORES, VALUES, FACTORS, UPSTREAM = (
    np.random.default_rng(seed).normal(size=shape).astype("float32")
    for seed, shape in enumerate([(2, 3, 5, 7), (2, 3, 7, 4), (2, 3, 5, 7), (2, 3, 5, 4)])
)


class Inputs(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.scores, self.values = Scalars(SCORES), Scalars(VALUES)


@pytest.mark.parametrize("factors", [None, (FACTORS > 0) * np.float32(2.0)])
def test_the_gradient_is_that_of_the_plain_formula(factors):
    def plain(scores, values):
        shares = ops.softmax(scores)
        return ops.matmul(shares if factors is None else shares * factors, values)

    inputs, found = Inputs(), []
    for function in (plain, lambda scores, values: weigh_values(scores, values, factors)):

        def loss(function=function):
            return ops.sum(function(inputs.scores.values + 0.0, inputs.values.values + 0.0) * UPSTREAM)

        found.append((float(loss()), gradients(inputs, loss)))
    (expected_loss, expected), (loss, given) = found
    assert loss == pytest.approx(expected_loss, rel=1e-5)
    assert len(expected) == 2
    for path, value in expected.items():
        np.testing.assert_allclose(given[path], value, atol=2e-6)
