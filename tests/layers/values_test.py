"""Layers against plain NumPy, and small functions against literal values."""

import math

import numpy as np
import pytest

from firth import layers
from tests.backends.gradients import derivative


def randomized(layer, seed=0, scale=0.5):
    """Gives a built layer weights that are all random: zeros and ones hide mistakes."""
    generator = np.random.default_rng(seed)
    layer.set_weights([generator.normal(size=value.shape) * scale for value in layer.get_weights()])
    return layer


def softmax(scores):
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def naive_attention(hidden, documents, kernel, bias, output_kernel, output_bias, heads):
    """One head and one example at a time, and only over the tokens that may be seen."""
    width = hidden.shape[-1]
    projected = np.split(hidden @ kernel + bias, 3, axis=-1)
    context = np.zeros_like(hidden)
    for row, ids in enumerate(documents):
        for head in np.split(np.arange(width), heads):
            query, key, value = (part[row][:, head] for part in projected)
            for position, document in enumerate(ids):
                seen = ids == document
                weights = softmax(query[position] @ key[seen].T / math.sqrt(len(head)))
                context[row, position, head] = weights @ value[seen]
    return context @ output_kernel + output_bias


def test_self_attention_equals_a_naive_one():
    hidden = np.random.default_rng(0).normal(size=(2, 5, 6)).astype("float32")
    documents = np.array([[1, 1, 2, 2, 0], [1, 1, 1, 1, 1]])
    layer = layers.SelfAttention(width=6, heads=3)
    layer.build(hidden.shape)
    randomized(layer)
    weights = {weight.path.split("/", 1)[1]: weight.numpy() for weight in layer.weights}
    expected = naive_attention(
        hidden,
        documents,
        weights["kernel"],
        weights["bias"],
        weights["output/kernel"],
        weights["output/bias"],
        heads=3,
    )
    found = layer(hidden, layers.document_bias(documents))
    np.testing.assert_allclose(np.array(found), expected, atol=1e-5)


def test_feed_forward_by_hand():
    layer = layers.FeedForward(width=1, inner_width=2, activation="relu")
    layer.build((None, None, 1))
    weights = [[2.0], [-3.0]], [1.0, 0.0], [[5.0], [7.0]], [0.5]
    layer.set_weights([np.array(weight) for weight in weights])
    # 1: relu(2 + 1) 5 + relu(-3) 7 + 0.5; -1: relu(-2 + 1) 5 + relu(3) 7 + 0.5.
    found = np.array(layer(np.array([[[1.0], [-1.0]]], "float32")))
    assert found.flatten().tolist() == [15.5, 21.5]


def test_embeddings_are_summed_then_normed():
    layer = layers.TokenSegmentPositionEmbedding(vocabulary_size=3, width=2, positions=2, segments=2)
    layer.build((None, None))
    tables = [[[9.0, 9.0], [1.0, 0.0], [3.0, 2.0]], [[0.0, 0.0], [0.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]]]
    layer.set_weights([*map(np.array, tables), np.array([1.0, 10.0]), np.array([0.5, 0.0])])
    found = np.array(layer(np.array([[1, 2]]), np.array([[0, 1]]), np.array([[0, 1]])))
    # (2, 0) and (3, 7): normed to (1, -1) and (-1, 1), times (1, 10), plus (0.5, 0).
    np.testing.assert_allclose(found[0], [[1.5, -10.0], [-0.5, 10.0]], atol=1e-5)


def test_masked_lm_head_by_hand():
    layer = layers.MaskedLMHead(vocabulary_size=3, width=2, activation="relu")
    layer.build((None, None, 2))
    named = {"bias": [0.0, 0.0, 7.0], "kernel": np.eye(2), "dense/bias": [0.0, 0.0]}
    for weight in layer.weights:
        name = weight.path.split("/", 1)[1]
        if name in ("bias", "dense/kernel", "dense/bias"):
            weight.assign(named.get(name, np.eye(2)))
    hidden = np.array([[[0.0, 0.0], [5.0, 1.0]]], "float32")
    table = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], "float32")
    found = np.array(layer(hidden, np.array([[1]]), table))
    np.testing.assert_allclose(found, [[[1.0, -1.0, 7.0]]], atol=1e-5)


def test_pooler_takes_the_given_positions():
    layer = layers.Pooler(width=1)
    layer.build((None, None, 1))
    layer.set_weights([np.array([[2.0]]), np.array([0.0])])
    found = np.array(layer(np.array([[[0.1], [0.2], [0.3]]], "float32"), np.array([[2, 0]])))
    np.testing.assert_allclose(found[0, :, 0], np.tanh([0.6, 0.2]), atol=1e-6)


@pytest.mark.parametrize("name", sorted(layers.ACTIVATIONS))
def test_activations(name):
    points = np.linspace(-6, 6, 41).astype("float32")
    exact = np.array([0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in points])
    expected = np.maximum(points, 0) if name == "relu" else exact
    tolerance = 1e-3 if name == "gelu_approximate" else 1e-6
    np.testing.assert_allclose(np.array(layers.ACTIVATIONS[name](points)), expected, atol=tolerance)


def test_gelu_derivative():
    points = np.linspace(-6, 6, 41)
    # x Phi(x) has the derivative Phi(x) + x phi(x).
    expected = [
        0.5 * (1 + math.erf(x / math.sqrt(2))) + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        for x in points
    ]
    np.testing.assert_allclose(derivative(layers.gelu, points, np.ones(41)), expected, atol=1e-6)


def test_gather_rows_sums_the_gradient_of_repeated_rows():
    rows = [[1, 0, 1], [1, 2, 2]]
    direction = np.arange(12.0).reshape(2, 3, 2)
    expected = np.zeros((4, 2))
    np.add.at(expected, np.array(rows), direction)
    found = derivative(lambda table: layers.gather_rows(table, np.array(rows)), np.ones((4, 2)), direction)
    np.testing.assert_allclose(found, expected)
    assert isinstance(found, np.ndarray), "dense, not a list of rows"


def test_tied_projection_derivatives():
    generator = np.random.default_rng(0)
    hidden, table = generator.normal(size=(3, 2)), generator.normal(size=(5, 2))
    direction = generator.normal(size=(3, 5))
    for_hidden = derivative(lambda x: layers.tied_projection(x, table.astype("float32")), hidden, direction)
    for_table = derivative(lambda x: layers.tied_projection(hidden.astype("float32"), x), table, direction)
    np.testing.assert_allclose(for_hidden, direction @ table, atol=1e-5)
    np.testing.assert_allclose(for_table, direction.T @ hidden, atol=1e-5)
