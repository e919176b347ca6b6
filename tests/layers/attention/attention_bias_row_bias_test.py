"""A bias that is described gives, for some queries, the rows of the one that is written out."""

import numpy as np
import pytest

from firth.layers import RelativeBucketBias
from firth.layers.attention import attention_bias as module
from firth.layers.attention.attention_bias import AttentionMask, RowBias, attention_bias, window_bias

DOCUMENTS = np.array([[1, 1, 1, 2, 2, 2, 2, 0], [1, 1, 1, 1, 1, 1, 1, 1]])
ORDER = np.array([[0, 0, 1, 0, 0, 1, 2, 0], [0, 1, 2, 3, 4, 5, 6, 7]])
PLACES, BLOCK = np.arange(8)[np.newaxis], ((3, 0), (3, 8))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("order", [None, ORDER])
def test_a_mask_has_the_rows_of_the_bias(order, causal):
    whole = np.array(attention_bias(DOCUMENTS, order, causal))
    mask = AttentionMask(DOCUMENTS, order, causal)
    np.testing.assert_array_equal(np.array(mask.whole()), whole)
    np.testing.assert_array_equal(np.array(mask.rows(((3, 2), (3, 6)))), whole[:, :, 3:6, 2:8])


def test_keys_may_be_of_other_rows():
    keys = np.array([[1, 2, 2, 0, 0], [1, 1, 1, 1, 1]])
    mask = AttentionMask(DOCUMENTS, key_document_ids=keys)
    assert mask.sizes == (8, 5)
    whole = np.array(attention_bias(DOCUMENTS, key_document_ids=keys))
    np.testing.assert_array_equal(np.array(mask.rows(((3, 0), (3, 5)))), whole[:, :, 3:6])


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_window_hides_what_it_hides_and_keys_outside_are_left_out(bidirectional, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 2)
    mask = AttentionMask(DOCUMENTS, causal=not bidirectional)
    bias = RowBias(mask, window=2, bidirectional=bidirectional)
    block = bias.block(begin=4, size=1, end=8)
    (begin, first), (size, count) = block
    first, last = int(first), int(first) + count
    assert (begin, size, first, last) == (4, 1, 2, 6)
    whole = np.array(mask.whole() + window_bias(PLACES, 8, 2, bidirectional))
    np.testing.assert_array_equal(np.array(bias.rows(block)), whole[:, :, 4:5, first:last])
    assert (whole[:, :, 4:5, :first] < 0).all() and (whole[:, :, 4:5, last:] < 0).all()


@pytest.mark.parametrize("prefix", [0, 3])
def test_distances_are_added_and_a_prefix_is_seen_from_where_the_document_says(prefix):
    distances = RelativeBucketBias(heads=2, buckets=4, max_distance=6, seed=1)
    distances.build()
    within = np.array([[0, 1, 2, 0, 1, 2, 3, 0], np.arange(8)]) + prefix
    mask = AttentionMask(DOCUMENTS)
    bias = RowBias(mask, distances, prefix_length=prefix, places=within)
    expected = np.array(mask.whole() + distances(PLACES, PLACES))
    if prefix:
        expected = np.concatenate([np.array(distances(within, np.arange(prefix)[np.newaxis])), expected], -1)
    np.testing.assert_allclose(
        np.array(bias.rows(BLOCK)), expected[:, :, 3:6], rtol=1e-6, err_msg=str(prefix)
    )
    # Tensors that stand for its own are read in their place.
    zeros = bias.with_tensors(tuple(each * 0 for each in bias.tensors))
    assert (np.array(zeros.rows(BLOCK)) == 0).all()
