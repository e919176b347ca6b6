"""Kept probabilities give a layer's output when values are weighted by them."""

import numpy as np
import pytest
from keras import ops

from firth.layers import Attention
from firth.layers.attention.attention_bias import AttentionMask, RowBias, attention_bias
from firth.layers.attention.block_sparse import BLOCK
from firth.layers.attention.disentangled_attention import DisentangledAttention
from firth.layers.attention.kept_probabilities import keep_probabilities

WIDTH, HEADS = 8, 4
# Name to the layer, the length of rows, and keywords of the call; the long one is read in blocks.
CASES = {
    "plain": (Attention(WIDTH, HEADS, seed=1, initializer_stddev=0.5), 5, {}),
    "groups": (Attention(WIDTH, HEADS, key_value_heads=2, seed=2, initializer_stddev=0.5), 5, {}),
    "not_scaled": (Attention(WIDTH, HEADS, scaled=False, seed=3, initializer_stddev=0.5), 5, {}),
    "blocks": (
        Attention(WIDTH, HEADS, key_value_heads=2, seed=4, initializer_stddev=0.5),
        8 * BLOCK,
        {"causal": True},
    ),
    "disentangled": (
        DisentangledAttention(WIDTH, HEADS, seed=5, initializer_stddev=0.5),
        5,
        {"tables": True},
    ),
}


def by_values(layer, probabilities, hidden):
    """Returns the values of a layer's kernel, weighted by probabilities, joined and projected, by hand."""
    keys = layer.key_value_heads * layer.head_width
    values = hidden @ np.array(layer.kernel)[:, -keys:] + np.array(layer.bias)[-keys:]
    values = values.reshape(*hidden.shape[:2], layer.key_value_heads, layer.head_width)
    heads = [
        probabilities[:, head] @ values[:, :, head % layer.key_value_heads] for head in range(layer.heads)
    ]
    joined = np.concatenate(heads, axis=-1)
    return joined @ np.array(layer.output_projection.kernel) + np.array(layer.output_projection.bias)


@pytest.mark.parametrize("name", CASES)
def test_probabilities_weigh_the_values_of_the_output(name):
    layer, length, given = CASES[name]
    random = np.random.default_rng(0)
    hidden = random.normal(size=(2, length, WIDTH)).astype("float32")
    given = dict(given)
    if given.pop("tables", False):
        given["positions"] = random.normal(size=(2 * length + 1, WIDTH)).astype("float32")
    documents = np.array([[1] * length, [1] * (length - 2) + [2] * 2])
    given["bias"] = attention_bias(documents, causal=given.get("causal", False))
    with keep_probabilities() as kept:
        output = np.array(layer(hidden, **given))
    (probabilities,) = [np.array(each) for each in kept]
    assert probabilities.dtype == np.float32 and probabilities.shape == (2, HEADS, length, length)
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1, rtol=1e-5)
    assert not probabilities[1, :, :-2, -2:].any() and not probabilities[1, :, -2:, :-2].any()
    np.testing.assert_allclose(by_values(layer, probabilities, hidden), output, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(np.array(layer(hidden, **given)), output)
    assert len(kept) == 1


def test_rows_that_are_read_in_parts_are_refused():
    layer, length, _ = CASES["plain"]
    bias = RowBias(AttentionMask(np.ones((1, length), "int32")))
    with keep_probabilities(), pytest.raises(NotImplementedError, match="in parts"):
        layer(ops.ones((1, length, WIDTH)), bias=bias)
