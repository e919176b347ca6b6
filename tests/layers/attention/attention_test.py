"""Attention against plain NumPy."""

import math

import numpy as np
import pytest

from firth import layers
from firth.layers.attention.attention_bias import attention_bias


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


def normalised(project, scale, epsilon=0.1):
    """Returns a function: a projection, then each head divided by its root mean square and scaled."""

    def run(states):
        heads = project(states).reshape(*states.shape[:-1], -1, len(scale))
        heads = heads / np.sqrt((heads**2).mean(-1, keepdims=True) + epsilon) * scale
        return heads.reshape(*states.shape[:-1], -1)

    return run


ATTENTIONS = [
    {"heads": 3},
    {"heads": 4, "key_value_heads": 2, "head_width": 2},
    {"heads": 2, "key_value_heads": 1, "scaled": False},
    {"heads": 4, "key_value_heads": 2, "head_width": 3, "cross": True},
    {"heads": 4, "key_value_heads": 2, "head_width": 3, "query_key_epsilon": 0.1},
    {"heads": 2, "cross": True, "query_key_epsilon": 0.1},
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
    if layer.query_norm is not None:
        for name, scale in (("queries", "query_norm/scale"), ("keys", "key_norm/scale")):
            weights[name] = normalised(weights[name], found[scale])
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
    result = layer(hidden, attention_bias(documents) + of_heads, **inputs)
    np.testing.assert_allclose(np.array(result), expected, atol=1e-5)
