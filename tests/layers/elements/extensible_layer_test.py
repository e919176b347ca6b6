"""Layers that something may be added to."""

import numpy as np

from firth.layers.elements.extensible_layer import by_tokens


def test_a_function_of_tokens_reads_states_as_tokens():
    generator = np.random.default_rng(0)
    # Sums of small integers are exact in any order.
    sizes = ((2, 5, 3), (3, 4))
    states, kernel = (generator.integers(-9, 10, size).astype("float32") for size in sizes)
    found = by_tokens(lambda tokens: tokens @ kernel, states)
    np.testing.assert_array_equal(np.array(found), states @ kernel)
