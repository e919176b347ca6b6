"""Layers that share weights, against ALBERT's reference code written out."""

import numpy as np
import pytest

from firth.layers import MaskedTransformer, StackConfig
from tests.layers.inputs import WIDTH, bias, document_ids, hidden


@pytest.mark.parametrize("passes, groups, blocks", [(12, 1, 1), (4, 2, 1), (5, 3, 1), (4, 2, 2), (3, 1, 2)])
def test_groups_are_those_of_the_reference_code(passes, groups, blocks):
    """`group = int(pass / passes * groups)`, all inner blocks of it in each pass."""
    stack = MaskedTransformer(
        StackConfig(
            layers=passes * blocks,
            width=WIDTH,
            attention={"heads": 2},
            share_layers={"groups": groups, "blocks": blocks},
            initializer_stddev=0.3,
        ),
        seed=1,
    )
    found = stack(hidden(0), document_ids())
    assert len(stack.blocks) == groups * blocks
    states = hidden(0)
    for step in range(passes):
        # `step * groups // passes` without the rounding of floats, which 5 and 3 would show.
        group = int(step * groups / passes + 1e-9)
        for inner in range(blocks):
            states = stack.blocks[group * blocks + inner](states, bias())
    np.testing.assert_allclose(np.array(found), np.array(states), rtol=1e-5, atol=1e-5)
