import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.corpus.packing.pack import pack


@given(st.lists(st.integers(1, 20), max_size=60), st.integers(1, 5))
def test_packing(sizes, most):
    bins = pack(sizes, 20, most)
    assert sorted(item for members in bins for item in members) == list(range(len(sizes)))
    assert all(0 < len(members) <= most for members in bins)
    assert all(sum(sizes[item] for item in members) <= 20 for members in bins)


def test_packing_fills_bins():
    generator = random.Random(7)
    sizes = [generator.randint(4, 60) for _ in range(2000)]
    bins = pack(sizes, 128, 32)
    assert len(bins) <= 1.02 * sum(sizes) / 128


def test_packing_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="size 9 does not fit a bin of 8"):
        pack([9], 8, 1)
