"""Layers that something may be added to."""

import numpy as np

from firth.layers.elements.extensible_layer import by_tokens


def test_a_function_of_tokens_reads_states_as_tokens():
    generator = np.random.default_rng(0)
    states, kernel = (generator.normal(size=shape).astype("float32") for shape in ((2, 5, 3), (3, 4)))
    found = by_tokens(lambda tokens: tokens @ kernel, states)
    np.testing.assert_allclose(np.array(found), states @ kernel, rtol=1e-5)
