"""Writing into a cache in place equals the layers' own scatter, bit by bit, and copies nothing."""

import numpy as np
import pytest
import tensorflow as tf

from firth.generation.readers import written_in_place
from firth.layers.attention.key_value_cache import with_tokens

SHAPE = (3, 2, 5, 4)


def drawn(shape, dtype, seed):
    return tf.cast(tf.random.stateless_normal(shape, [seed, 0]) * 100.0, dtype)


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.float64])
@pytest.mark.parametrize("count", [1, 2])
def test_it_equals_the_scatter_of_the_layers(dtype, count):
    """Also where numbers stand already, in a graph that knows no sizes but those of heads."""
    index = tf.constant([0, 3, 2])
    cache, tokens = drawn(SHAPE, dtype, 1), drawn((3, 2, count, 4), dtype, 2)
    # Infinity and the negative zero are bits as others are.
    odd = tf.cast(tf.fill([3, 2, count, 2], [-0.0, float("inf")][count - 1]), dtype)
    tokens = tf.concat([tokens[..., :2], odd], axis=-1)
    expected = with_tokens(cache, tokens, index)
    specs = [tf.TensorSpec([None, 2, None, 4], dtype)] * 2 + [tf.TensorSpec([None], tf.int32)]
    for write in (written_in_place, tf.function(written_in_place, input_signature=specs)):
        found = write(cache, tokens, index)
        assert found.dtype == dtype and found.shape == SHAPE
        assert found.numpy().tobytes() == expected.numpy().tobytes()


def test_a_cache_that_is_held_stays_as_it_is():
    cache = drawn(SHAPE, tf.float32, 1)
    before = cache.numpy().copy()
    written_in_place(cache, drawn((3, 2, 1, 4), tf.float32, 2), tf.constant([0, 1, 4]))
    np.testing.assert_array_equal(cache.numpy(), before)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_a_gpu_has_all_operations_on_vectors(dtype):
    """Those that it has not are run on the host, for which a whole cache is copied there and back."""
    specs = [tf.TensorSpec([None, 2, None, 4], dtype)] * 2 + [tf.TensorSpec([None], tf.int32)]
    graph = tf.function(written_in_place, input_signature=specs).get_concrete_function().graph
    of_vectors = [op for op in graph.get_operations() if op.outputs and op.outputs[0].shape[-1:] == [4]]
    types = {op.type: op.inputs[0].dtype for op in of_vectors if op.inputs}
    assert types["ScatterNdNonAliasingAdd"] == types["Sub"]
    # Signed numbers of 32 bits are in the memory of the host; those that are gathered have few types.
    assert types["Sub"].is_unsigned and types["GatherNd"] == dtype
