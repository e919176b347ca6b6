"""Attention that leaves out blocks which the mask forbids: the same numbers, without the others' scores."""

import itertools

import keras
import numpy as np
import pytest

from firth.layers import Attention, CausalTransformer, RotaryPositions, StackConfig
from firth.layers.attention import block_sparse
from firth.layers.attention.attention_bias import attention_bias
from firth.layers.attention.block_sparse import BLOCK, FEWEST_TOKENS, read_blocks
from firth.layers.elements.noise import example_noise
from tests.backends.gradients import gradients
from tests.repeating import often

WIDTH = 8
ATTENTIONS = [{"heads": 2}, {"heads": 4, "key_value_heads": 2, "head_width": 2}]
LENGTHS = [FEWEST_TOKENS, FEWEST_TOKENS + BLOCK]
pytestmark = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow",
    reason="only TensorFlow reads so: how many blocks there are is known when a step runs",
)


def packed_rows(length):
    """Documents that end within blocks and between them, padding, and a row of one document."""
    generator = np.random.default_rng(length)
    ends = [0, 9, BLOCK, 2 * BLOCK + 50, length - BLOCK - 7, length - 30]
    documents = np.zeros((2, length), "int32")
    for number, (start, end) in enumerate(itertools.pairwise(ends), 1):
        documents[0, start:end] = number
    documents[1] = 1
    return generator.normal(size=(2, length, WIDTH)).astype("float32"), documents


def whole(query, key, value, bias):
    scores = np.einsum("gbhqd,bhkd->bghqk", query, key)
    scores = scores.reshape(len(key), -1, *scores.shape[-2:]) + bias
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares = (shares / shares.sum(-1, keepdims=True)).reshape(len(key), len(query), -1, *scores.shape[-2:])
    return np.einsum("bghqk,bhkd->gbhqd", shares, value)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads_of_bias", [1, 6])
@pytest.mark.parametrize("rows_of_bias", often([1, 2], [2]))
def test_equals_a_naive_one(causal, heads_of_bias, rows_of_bias):
    generator = np.random.default_rng(0)
    _, documents = packed_rows(LENGTHS[1])
    query = generator.normal(size=(3, 2, 2, LENGTHS[1], 4)).astype("float32")
    key, value = generator.normal(size=(2, 2, 2, LENGTHS[1], 4)).astype("float32")
    heads = generator.normal(size=(1, heads_of_bias, LENGTHS[1], LENGTHS[1])).astype("float32")
    bias = np.array(attention_bias(documents[:rows_of_bias], causal=causal)) + heads
    read = np.array(read_blocks(query, key, value, bias, dropout=lambda each, parts: each))
    np.testing.assert_allclose(read, whole(query, key, value, bias), atol=2e-5)


def test_by_hand():
    """Scores of zero: the mean of what is seen, here of the first document in blocks of its own."""
    states = np.arange(2 * BLOCK, dtype="float32").reshape(1, 1, 2 * BLOCK, 1)
    bias = attention_bias(np.repeat([[1, 2]], BLOCK, axis=1))
    read = np.array(
        read_blocks(states[np.newaxis] * 0, states, states, bias, dropout=lambda each, parts: each)
    )
    assert read[0, 0, 0, :BLOCK, 0].tolist() == [(BLOCK - 1) / 2] * BLOCK
    assert read[0, 0, 0, BLOCK:, 0].tolist() == [BLOCK + (BLOCK - 1) / 2] * BLOCK


def in_whole_rows(monkeypatch, call):
    with monkeypatch.context() as patch:
        patch.setattr(block_sparse, "FEWEST_TOKENS", 10**9)
        return call()


@pytest.mark.parametrize("arguments", often(ATTENTIONS, ATTENTIONS[1:]))
@pytest.mark.parametrize("length", LENGTHS)
def test_outputs_and_gradients_of_a_layer_are_the_same(length, arguments, monkeypatch):
    hidden, documents = packed_rows(length)
    layer = Attention(WIDTH, seed=3, initializer_stddev=0.5, **arguments)
    layer.build(hidden.shape)
    bias = attention_bias(documents, causal=True)
    positions = RotaryPositions(layer.head_width)(np.arange(length)[np.newaxis])

    def output():
        return layer(hidden, bias, positions=positions, causal=True)

    def gradients_of():
        return gradients(layer, lambda: keras.ops.mean(keras.ops.square(output())))

    np.testing.assert_allclose(output(), in_whole_rows(monkeypatch, output), atol=2e-5)
    expected = in_whole_rows(monkeypatch, gradients_of)
    for path, gradient in gradients_of().items():
        np.testing.assert_allclose(gradient, expected[path], atol=1e-6, err_msg=path)


def test_documents_of_other_blocks_are_not_read():
    """A hidden key adds zero times its value, which is not a number if the value is not."""
    hidden, documents = packed_rows(LENGTHS[0])
    hidden[0, :BLOCK] = np.nan
    layer = Attention(WIDTH, heads=2, seed=3)
    read = np.array(layer(hidden, attention_bias(documents, causal=True), causal=True))
    assert np.isnan(read[0, :BLOCK]).all()
    assert np.isfinite(read[0, BLOCK:]).all()


def test_dropout_drops_in_training_and_the_mean_stays():
    hidden, documents = packed_rows(LENGTHS[0])
    layer = Attention(WIDTH, heads=2, dropout=0.5, seed=3, initializer_stddev=0.5)
    bias = attention_bias(documents, causal=True)
    read = np.array(layer(hidden, bias, causal=True))
    drawn = np.array([layer(hidden, bias, causal=True, training=True) for _ in range(25)])
    assert np.abs(drawn[0] - read).max() > 0.1
    # Most rows see many keys, so that the mean of the draws is close.
    assert np.abs(drawn.mean(axis=0) - read).mean() < 0.16 * np.abs(read).mean()


def test_compiled_for_any_batch_and_in_bfloat16():
    import tensorflow as tf

    hidden, documents = packed_rows(LENGTHS[0])
    model = CausalTransformer(
        StackConfig(layers=1, width=WIDTH, attention={"heads": 2}), dtype="mixed_bfloat16"
    )
    eager = model(hidden, documents)
    signature = [tf.TensorSpec([None, *hidden.shape[1:]]), tf.TensorSpec([None, LENGTHS[0]], tf.int32)]
    compiled = tf.function(model, input_signature=signature, autograph=False)
    assert eager.dtype == tf.bfloat16
    for rows in (1, 2):
        found = tf.cast(compiled(hidden[:rows], documents[:rows]), tf.float32)
        np.testing.assert_allclose(found, tf.cast(eager[:rows], tf.float32), atol=0.05)


def test_dropout_by_the_keys_of_examples_is_the_same_in_a_graph():
    """When a graph is made, the number of blocks is not known, but their size is."""
    import tensorflow as tf

    hidden, documents = packed_rows(LENGTHS[0])
    layer = Attention(WIDTH, heads=2, dropout=0.5, seed=3, initializer_stddev=0.5)
    layer.build(hidden.shape)
    bias = attention_bias(documents, causal=True)

    def run():
        with example_noise(np.array([[1, 2], [3, 4]])):
            return layer(hidden, bias, causal=True, training=True)

    np.testing.assert_allclose(tf.function(run, autograph=False)(), run(), atol=1e-5)
