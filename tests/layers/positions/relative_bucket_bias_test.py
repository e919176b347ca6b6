"""T5's buckets of distances, by hand and as its reference code has them."""

import numpy as np
import pytest

from firth import layers
from firth.layers.positions.relative_bucket_bias import buckets_by_distance

# Distances, key less query, of the first and the last place in each bucket of T5: 32 buckets, 128 distances.
# After 8 exact ones, bucket 8 + n begins at 8 * 16 ** (n / 8), rounded up: 8, 12, 16, 23, 32, 46, 64, 91.
STARTS = [8, 12, 16, 23, 32, 46, 64, 91]


def test_bidirectional_buckets_of_t5():
    found = buckets_by_distance(32, 128, bidirectional=True)
    of = dict(zip(range(-128, 129), found))
    assert [of[-distance] for distance in range(8)] == list(range(8))
    for number, start in enumerate(STARTS):
        assert (of[-start], of[1 - start]) == (8 + number, 7 + number)
        assert (of[start], of[start - 1]) == (24 + number, 23 + number)
    assert of[-128] == 15 and of[128] == 31


def test_causal_buckets_of_t5():
    of = dict(zip(range(-128, 129), buckets_by_distance(32, 128, bidirectional=False)))
    assert [of[-distance] for distance in range(17)] == list(range(17))
    # After 16 exact ones, bucket 16 + n begins at 16 * 8 ** (n / 16), rounded up.
    assert (of[-18], of[-19], of[-112], of[-113], of[-128]) == (16, 17, 30, 31, 31)
    assert {of[distance] for distance in range(129)} == {0}


def test_bias_by_hand():
    layer = layers.RelativeBucketBias(heads=2, buckets=4, max_distance=2, bidirectional=True)
    layer.build()
    layer.table.assign([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0], [3.0, 13.0]])
    places = np.array([[0, 1, 2]])
    # Bucket 0 is the token itself, 1 are those before it, 3 those after it.
    first = [[0, 3, 3], [1, 0, 3], [1, 1, 0]]
    found = np.array(layer(places, places))
    assert found[0, 0].tolist() == first
    assert (found[0, 1] - found[0, 0] == 10.0).all()
    assert np.array(layer(places[:, 2:], places))[0, 0].tolist() == first[2:]


def reference_bucket(distance: int, buckets: int, max_distance: int, bidirectional: bool) -> int:
    """transformers' `_relative_position_bucket` of one distance, logarithms compared as whole numbers."""
    found, near = 0, max(-distance, 0)
    if bidirectional:
        buckets //= 2
        found, near = (buckets if distance > 0 else 0), abs(distance)
    exact = buckets // 2
    if near < exact:
        return found + near
    # The largest step with (near / exact) ** (buckets - exact) >= (max_distance / exact) ** step.
    steps = buckets - exact
    step = max(
        step for step in range(steps) if near**steps * exact**step >= max_distance**step * exact**steps
    )
    return found + exact + step


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(
    "buckets, max_distance",
    [(4, 9), (5, 20), (6, 9), (7, 128), (9, 16), (10, 50), (31, 128), (32, 128), (33, 64)],
)
def test_buckets_are_those_of_the_reference_code(buckets, max_distance, bidirectional):
    found = buckets_by_distance(buckets, max_distance, bidirectional)
    expected = [
        reference_bucket(distance, buckets, max_distance, bidirectional)
        for distance in range(-max_distance, max_distance + 1)
    ]
    assert found.tolist() == expected
    assert found.max() < buckets
