"""Causal attention in blocks of queries: the same numbers, without the scores after a block."""

import keras
import numpy as np
import pytest

from firth.layers import (
    Attention,
    CausalTransformer,
    DisentangledAttention,
    DisentangledPositions,
    RotaryPositions,
    StackConfig,
)
from firth.layers.attention.attention_bias import attention_bias
from firth.layers.attention.softmax_attention import CAUSAL_BLOCK, CAUSAL_BLOCKS
from tests.backends.gradients import gradients
from tests.repeating import often

WIDTH = 8
ATTENTIONS = [
    {"heads": 2},
    {"heads": 4, "key_value_heads": 2, "head_width": 2},
    {"heads": 2, "biases": False},
]
# One block and a bit; three, the last one not full; more than the most blocks of the least size hold.
LENGTHS = [CAUSAL_BLOCK + 1, 2 * CAUSAL_BLOCK + 44, CAUSAL_BLOCK * CAUSAL_BLOCKS + 3]


def packed_rows(length):
    generator = np.random.default_rng(length)
    hidden = generator.normal(size=(2, length, WIDTH)).astype("float32")
    documents = np.array([[1] * (length // 3) + [2] * (length - length // 3 - 5) + [0] * 5, [1] * length])
    return hidden, documents


@pytest.mark.parametrize("arguments", ATTENTIONS)
@pytest.mark.parametrize("length", often(LENGTHS, [LENGTHS[0], LENGTHS[-1]]))
def test_blocks_change_nothing(length, arguments):
    hidden, documents = packed_rows(length)
    layer = Attention(WIDTH, seed=3, initializer_stddev=0.5, **arguments)
    heads = np.random.default_rng(0).normal(size=(1, arguments["heads"], length, length)).astype("float32")
    bias = attention_bias(documents, causal=True) + heads
    positions = RotaryPositions(layer.head_width)(np.arange(length)[np.newaxis])
    outputs = [np.array(layer(hidden, bias, positions=positions, causal=causal)) for causal in (False, True)]
    np.testing.assert_allclose(outputs[1], outputs[0], atol=2e-5)


def test_blocks_change_nothing_where_distances_attend():
    hidden, documents = packed_rows(LENGTHS[0])
    layer = DisentangledAttention(WIDTH, heads=2, seed=3, initializer_stddev=0.5)
    positions = DisentangledPositions(WIDTH, max_distance=9, buckets=4, seed=3)(
        np.arange(LENGTHS[0])[np.newaxis]
    )
    bias = attention_bias(documents, causal=True)
    outputs = [np.array(layer(hidden, bias, positions, causal=causal)) for causal in (False, True)]
    np.testing.assert_allclose(outputs[1], outputs[0], atol=2e-5)


def test_gradients_are_the_same():
    hidden, documents = packed_rows(LENGTHS[1])
    layer = Attention(WIDTH, heads=2, seed=3, initializer_stddev=0.5)
    layer.build(hidden.shape)
    bias = attention_bias(documents, causal=True)

    def gradients_of(causal):
        return gradients(layer, lambda: keras.ops.mean(keras.ops.square(layer(hidden, bias, causal=causal))))

    whole, blocks = gradients_of(False), gradients_of(True)
    for path, gradient in whole.items():
        np.testing.assert_allclose(blocks[path], gradient, atol=1e-6, err_msg=path)


def test_keys_behind_a_block_are_not_read():
    """A hidden key adds zero times its value, which is not a number if the value is not."""
    hidden, documents = packed_rows(LENGTHS[1])
    hidden[:, CAUSAL_BLOCK:] = np.nan
    layer = Attention(WIDTH, heads=2, seed=3)
    bias = attention_bias(documents, causal=True)
    assert np.isnan(np.array(layer(hidden, bias))[:, 0]).all()
    assert np.isfinite(np.array(layer(hidden, bias, causal=True))[:, :CAUSAL_BLOCK]).all()


def test_the_stack_reads_in_blocks_unless_a_prefix_sees_behind_itself():
    hidden, documents = packed_rows(LENGTHS[0])
    hidden[:, CAUSAL_BLOCK:] = np.nan
    stack = StackConfig(layers=1, width=WIDTH, attention={"heads": 2})
    decoder = CausalTransformer(stack)
    assert np.isfinite(np.array(decoder(hidden, documents))[:, :CAUSAL_BLOCK]).all()
    order = np.zeros_like(documents)
    prefix = CausalTransformer(stack, bidirectional_prefix=True)
    assert np.isnan(np.array(prefix(hidden, documents, attention_order=order))[1, 0]).all()
