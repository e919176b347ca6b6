"""Local attention in both directions: the same numbers, without the scores of blocks that nobody sees."""

import math

import keras
import numpy as np
import pytest

from firth.layers import Attention, MaskedTransformer, StackConfig
from firth.layers.attention.attention_bias import attention_bias, window_bias
from firth.layers.attention.block_sparse import FEWEST_TOKENS
from tests.backends.gradients import gradients

if keras.backend.backend() != "tensorflow":
    pytest.skip("only TensorFlow leaves the number of blocks to the data", allow_module_level=True)

import tensorflow as tf

LENGTH, WIDTH, HEADS, WINDOW = FEWEST_TOKENS, 8, 2, 64
HIDDEN = np.random.default_rng(0).normal(size=(1, LENGTH, WIDTH)).astype("float32")
DOCUMENTS = np.array([[1] * 200 + [2] * (LENGTH - 205) + [0] * 5])


def all_scores(compute) -> int:
    """The number of tensors in a graph that hold scores of every query and key in all heads."""
    graph = tf.function(compute, autograph=False).get_concrete_function().graph
    made = [each for operation in graph.get_operations() for each in operation.outputs]
    shapes = [each.shape for each in made if each.shape.is_fully_defined()]
    return sum(math.prod(shape) == HEADS * LENGTH**2 for shape in shapes)


def test_blocks_change_nothing():
    bias = attention_bias(DOCUMENTS) + window_bias(np.arange(LENGTH)[None], LENGTH, WINDOW, True)
    layer = Attention(WIDTH, HEADS, seed=3, initializer_stddev=0.5)
    whole, blocks = (np.array(layer(HIDDEN, bias, local=local)) for local in (False, True))
    np.testing.assert_allclose(blocks, whole, atol=2e-5)
    found = [
        gradients(layer, lambda local=local: keras.ops.sum(layer(HIDDEN, bias, local=local) ** 2))
        for local in (False, True)
    ]
    for path, value in found[0].items():
        np.testing.assert_allclose(found[1][path], value, rtol=1e-3, atol=1e-3, err_msg=path)


def test_a_local_layer_of_a_stack_makes_no_scores_of_all_tokens():
    """The first of two layers sees all, and the second one its surroundings."""

    def stack(layers):
        parts = {"layers": layers, "width": WIDTH, "attention": {"heads": HEADS}}
        local = {"window": WINDOW, "global_every": 2}
        made = MaskedTransformer(StackConfig(**parts, local_attention=local))
        made.build(HIDDEN.shape)
        return lambda: made(HIDDEN, DOCUMENTS)

    assert all_scores(stack(2)) == all_scores(stack(1)) > 0
