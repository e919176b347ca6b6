"""Documents of a packed row never see each other, and padding reaches none of them."""

import numpy as np
import pytest

from firth.layers import CausalTransformer, MaskedTransformer, StackConfig
from firth.layers.attention.attention_bias import attention_bias, window_bias
from tests.repeating import often

WIDTH = 16
LENGTHS = [(5, 3, 4), (1, 1, 10), (12,), (2, 9)]


@pytest.fixture(scope="module")
def encoder():
    encoder = MaskedTransformer(
        StackConfig(layers=3, width=WIDTH, attention={"heads": 4}, initializer_stddev=0.3), seed=1
    )
    encoder.build((None, None, WIDTH))
    return encoder


def packed(lengths, padding, seed=0):
    generator = np.random.default_rng(seed)
    documents = [generator.normal(size=(length, WIDTH)).astype("float32") for length in lengths]
    ids = np.repeat(np.arange(len(lengths)) + 1, lengths)
    filler = generator.normal(size=(padding, WIDTH)).astype("float32") * 100
    return documents, np.concatenate([*documents, filler])[None], np.pad(ids, (0, padding))[None]


@pytest.mark.parametrize("padding", often([0, 4], [4]))
@pytest.mark.parametrize("lengths", LENGTHS)
def test_alone_equals_packed(encoder, lengths, padding):
    documents, hidden, ids = packed(lengths, padding)
    together = np.array(encoder(hidden, ids))[0]
    assert np.isfinite(together).all()
    for index, document in enumerate(documents):
        alone = np.array(encoder(document[None], np.ones((1, len(document)), "int32")))[0]
        np.testing.assert_allclose(together[ids[0] == index + 1], alone, atol=1e-6 * np.abs(alone).max())


@pytest.mark.parametrize("changed", [1, 2, 3, 0])
def test_a_change_of_one_document_changes_no_other(encoder, changed):
    _, hidden, ids = packed((5, 3, 4), padding=4)
    before = np.array(encoder(hidden, ids))
    after = np.array(encoder(np.where((ids == changed)[..., None], hidden + 3.0, hidden), ids))
    np.testing.assert_array_equal(before[ids != changed], after[ids != changed])
    assert (before[ids == changed] != after[ids == changed]).any()


def test_rows_of_padding_alone_are_finite(encoder):
    found = np.array(encoder(np.full((2, 6, WIDTH), 1e3, "float32"), np.zeros((2, 6), "int32")))
    assert np.isfinite(found).all()


def test_every_token_of_a_document_is_seen(encoder):
    _, hidden, ids = packed((6,), padding=0)
    before = np.array(encoder(hidden, ids))[0, 0]
    for position in range(1, 6):
        changed = hidden.copy()
        changed[0, position] += 1.0
        assert np.abs(np.array(encoder(changed, ids))[0, 0] - before).max() > 1e-4


# What token i, row i, sees of documents 1 2 2 2 0.
BIASES = [
    ({}, ["x....", ".xxx.", ".xxx.", ".xxx.", "....x"]),
    ({"causal": True}, ["x....", ".x...", ".xx..", ".xxx.", "....x"]),
    ({"attention_order": [[0, 1, 0, 2, 0]]}, ["x....", ".xx..", "..x..", ".xxx.", "....x"]),
    ({"attention_order": [[0, 1, 0, 2, 0]], "causal": True}, ["x....", ".x...", "..x..", ".xxx.", "....x"]),
    ({"key_document_ids": [[2, 0, 1]]}, ["..x", "x..", "x..", "x..", ".x."]),
    (
        {"key_document_ids": [[1, 1, 2, 2, 2, 2]], "causal": True, "first": 1},
        ["xx....", "..x...", "..xx..", "..xxx.", "......"],
    ),
]


@pytest.mark.parametrize("arguments, expected", BIASES)
def test_bias_by_hand(arguments, expected):
    lists = {name: np.array(value) if isinstance(value, list) else value for name, value in arguments.items()}
    found = np.array(attention_bias(np.array([[1, 2, 2, 2, 0]]), **lists))
    assert found.shape == (1, 1, 5, len(expected[0]))
    assert set(found.flatten()) <= {0.0, np.float32(-1e9)}
    assert ["".join("x" if value == 0 else "." for value in row) for row in found[0, 0]] == expected


def test_an_encoder_document_that_is_missing_leaves_states_finite():
    decoder = CausalTransformer(
        StackConfig(layers=1, width=WIDTH, attention={"heads": 2}), cross_attention=True, seed=1
    )
    hidden = np.ones((1, 3, WIDTH), "float32")
    context = {"context": hidden, "context_document_ids": np.array([[1, 1, 1]])}
    assert np.isfinite(np.array(decoder(hidden, np.array([[1, 2, 0]]), **context))).all()


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("first", [0, 3])
def test_a_window_hides_what_is_not_around(bidirectional, first):
    """Half of four tokens on each side, or all four before; of queries that begin at some place, too."""
    places = np.arange(first, first + 4)
    found = np.array(window_bias(places[None], 9, window=4, bidirectional=bidirectional))[0, 0]
    for row, place in enumerate(places):
        for key in range(9):
            seen = abs(place - key) <= 2 if bidirectional else place - key <= 4
            assert (found[row, key] == 0) == seen, (place, key)


def test_only_the_local_layers_hide_what_is_far():
    stack = StackConfig(
        layers=4, width=WIDTH, attention={"heads": 4}, local_attention={"window": 2, "global_every": 3}
    )
    whole = attention_bias(np.ones((1, 9), int))
    biases = MaskedTransformer(stack, seed=1)._relate_layers(whole, None)
    assert [int((np.array(bias)[0, 0, 4] == 0).sum()) for bias, _ in biases] == [9, 3, 3, 9]
