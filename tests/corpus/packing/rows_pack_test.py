import random

import pytest
from hypothesis import given, settings, strategies as st

from firth.corpus.packing.rows import pack, pack_in_order


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 20), max_size=60), st.integers(1, 5))
def test_packing(sizes, most):
    bins = pack(sizes, 20, most)
    assert sorted(item for members in bins for item in members) == list(range(len(sizes)))
    assert all(0 < len(members) <= most for members in bins)
    assert all(sum(sizes[item] for item in members) <= 20 for members in bins)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 20), max_size=60), st.integers(1, 5), st.integers(1, 4))
def test_packing_in_order(sizes, most, max_open):
    bins = pack_in_order(sizes, 20, most, max_open)
    assert sorted(item for members in bins for item in members) == list(range(len(sizes)))
    assert all(members == sorted(members) and 0 < len(members) <= most for members in bins)
    assert all(sum(sizes[item] for item in members) <= 20 for members in bins)


def test_an_item_goes_where_it_leaves_the_least_room():
    assert pack_in_order([12, 15, 6, 4, 5, 8], 20, 8) == [[0, 2], [1, 3], [4, 5]]
    assert pack_in_order([12, 15, 6, 4, 5, 8], 20, 1) == [[0], [1], [2], [3], [4], [5]]


def test_the_fullest_bin_is_closed_if_too_many_are_open():
    assert pack_in_order([11, 12, 8], 20, 8, max_open=2) == [[0], [1, 2]]
    assert pack_in_order([11, 12, 8], 20, 8, max_open=1) == [[0, 2], [1]]


def test_packing_fills_bins():
    generator = random.Random(7)
    sizes = [generator.randint(4, 60) for _ in range(2000)]
    bins = pack(sizes, 128, 32)
    assert len(bins) <= 1.02 * sum(sizes) / 128


def test_packing_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"\b9 .* 8\b"):
        pack([9], 8, 1)
