"""Layers that share weights, against ALBERT's reference code written out; and places after a prefix."""

import numpy as np
import pytest

from firth.layers import MaskedTransformer, StackConfig
from firth.models.additions.prefix import Prefix
from tests.layers.inputs import BATCH, LENGTH, WIDTH, bias, document_ids, hidden


@pytest.mark.parametrize(
    "passes, groups, blocks",
    [
        pytest.param(12, 1, 1, marks=pytest.mark.repeated),
        pytest.param(4, 2, 1, marks=pytest.mark.repeated),
        (5, 3, 1),
        pytest.param(4, 2, 2, marks=pytest.mark.repeated),
        (3, 1, 2),
    ],
)
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


@pytest.mark.parametrize("positions", ["rotary", "relative_buckets"])
def test_places_without_ids_follow_the_prefix(positions):
    """A prefix of three keys, whose number has more than one bit, before rows that are longer."""
    attention = {"heads": 2}
    shape = StackConfig(
        layers=1, width=WIDTH, attention=attention, positions={"kind": positions}, initializer_stddev=0.3
    )
    stack = MaskedTransformer(shape, seed=1)
    stack.build((None, None, WIDTH))
    prefix = Prefix(heads=2, length=3, head_width=WIDTH // 2, seed=2)
    prefix.build(())
    stack.blocks[0].attention.extend("keys_values", prefix)
    places = np.tile(np.arange(3, 3 + LENGTH, dtype="int32"), (BATCH, 1))
    found, expected = (np.array(stack(hidden(0), document_ids(), position_ids=ids)) for ids in (None, places))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    shifted = np.array(stack(hidden(0), document_ids(), position_ids=places - 3))
    assert np.abs(shifted - expected).max() > 1e-2
