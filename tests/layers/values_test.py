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


def naive_attention(hidden, context, visible, biases, weights, key_value_heads, scale):
    """One head, example and query at a time, and only over the tokens that may be seen."""
    query, key, value = weights["queries"](hidden), weights["keys"](context), weights["values"](context)
    heads = len(biases)
    width = query.shape[-1] // heads
    joined = np.zeros_like(query)
    for row, position, head in np.ndindex(*visible.shape[:2], heads):
        own = slice(head * width, (head + 1) * width)
        shared = slice(head % key_value_heads * width, (head % key_value_heads + 1) * width)
        seen = visible[row, position]
        scores = key[row][seen, shared] @ query[row, position, own] * scale
        scores = scores + biases[head, position, seen]
        joined[row, position, own] = softmax(scores) @ value[row][seen, shared]
    return weights["output"](joined)


def dense(kernel, bias):
    return lambda states: states @ kernel + bias


ATTENTIONS = [
    {"heads": 3},
    {"heads": 4, "key_value_heads": 2, "head_width": 2},
    {"heads": 2, "key_value_heads": 1, "scaled": False},
    {"heads": 4, "key_value_heads": 2, "head_width": 3, "cross": True},
]


@pytest.mark.parametrize("arguments", ATTENTIONS)
def test_attention_equals_a_naive_one(arguments):
    generator = np.random.default_rng(0)
    hidden, encoded = (generator.normal(size=(2, 5, 6)).astype("float32") for _ in range(2))
    documents = np.array([[1, 1, 2, 2, 0], [1, 1, 1, 1, 1]])
    layer = layers.Attention(width=6, **arguments)
    layer.build(hidden.shape)
    randomized(layer)
    found = {weight.path.split("/", 1)[1]: weight.numpy() for weight in layer.weights}
    kernel, bias = found["kernel"], found["bias"]
    if layer.cross:
        kernel = np.concatenate([found["query_kernel"], kernel], axis=1)
        bias = np.concatenate([found["query_bias"], bias])
    widths = np.cumsum([layer.heads * layer.head_width, layer.key_value_heads * layer.head_width])
    kernels, biases = np.split(kernel, widths, axis=1), np.split(bias, widths)
    weights = {name: dense(*both) for name, *both in zip(("queries", "keys", "values"), kernels, biases)}
    weights["output"] = dense(found["output/kernel"], found["output/bias"])
    context = encoded if layer.cross else hidden
    of_heads = generator.normal(size=(layer.heads, 5, 5)).astype("float32")
    expected = naive_attention(
        hidden,
        context,
        documents[:, :, None] == documents[:, None],
        of_heads,
        weights,
        layer.key_value_heads,
        1 / math.sqrt(layer.head_width) if layer.scaled else 1.0,
    )
    inputs = {"context": encoded} if layer.cross else {}
    result = layer(hidden, layers.attention_bias(documents) + of_heads, **inputs)
    np.testing.assert_allclose(np.array(result), expected, atol=1e-5)


def test_feed_forward_by_hand():
    layer = layers.FeedForward(width=1, inner_width=2, activation="relu")
    layer.build((None, None, 1))
    weights = [[2.0], [-3.0]], [1.0, 0.0], [[5.0], [7.0]], [0.5]
    layer.set_weights([np.array(weight) for weight in weights])
    # 1: relu(2 + 1) 5 + relu(-3) 7 + 0.5; -1: relu(-2 + 1) 5 + relu(3) 7 + 0.5.
    found = np.array(layer(np.array([[[1.0], [-1.0]]], "float32")))
    assert found.flatten().tolist() == [15.5, 21.5]


def test_gated_feed_forward_by_hand():
    layer = layers.FeedForward(width=1, inner_width=2, activation="relu", gated=True, biases=False)
    layer.build((None, None, 1))
    weights = {"gate": [[2.0], [-3.0]], "inner": [[1.0], [10.0]], "outer": [[5.0], [7.0]]}
    for weight in layer.weights:
        weight.assign(weights[weight.name.removesuffix("_kernel")])
    # 2: relu(4) 2 5 + relu(-6) 20 7; -1: relu(-2) (-1) 5 + relu(3) (-10) 7.
    found = np.array(layer(np.array([[[2.0], [-1.0]]], "float32")))
    assert found.flatten().tolist() == [40.0, -210.0]


def test_embeddings_are_summed_then_normed():
    learned = {"kind": "learned", "length": 2, "unused": 1}
    layer = layers.InputEmbedding(width=2, positions=learned, segments=2, norm={})
    layer.build((None, None, 2))
    weights = {
        "position/table": [[0.0, 9.0], [1.0, 0.0], [0.0, 1.0]],
        "segment/table": [[0.0, 0.0], [0.0, 4.0]],
        "norm/gamma": [1.0, 10.0],
        "norm/beta": [0.5, 0.0],
    }
    for weight in layer.weights:
        weight.assign(weights[weight.path.split("/", 1)[1]])
    tokens = np.array([[[1.0, 0.0], [3.0, 2.0]]], "float32")
    found = np.array(layer(tokens, np.array([[0, 1]]), np.array([[0, 1]])))
    # (2, 0) and (3, 7): normed to (1, -1) and (-1, 1), times (1, 10), plus (0.5, 0).
    np.testing.assert_allclose(found[0], [[1.5, -10.0], [-0.5, 10.0]], atol=1e-5)


def test_norms_by_hand():
    states = np.array([[3.0, 4.0]], "float32")
    # Mean 3.5 and variance 0.25; mean square 12.5.
    layer_norm, rms_norm = layers.build_norm(epsilon=0.75), layers.build_norm("rms_norm", epsilon=3.5)
    np.testing.assert_allclose(np.array(layer_norm(states)), [[-0.5, 0.5]], atol=1e-6)
    np.testing.assert_allclose(np.array(rms_norm(states)), [[0.75, 1.0]], atol=1e-6)
    without = layers.build_norm(biases=False)
    without.build(states.shape)
    assert [weight.name for weight in without.weights] == ["gamma"]


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
    others = {"relu": np.maximum(points, 0), "silu": points / (1 + np.exp(-points))}
    expected = others.get(name, exact)
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
