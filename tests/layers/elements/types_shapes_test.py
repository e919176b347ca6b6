"""A reshape leaves the only unknown size open, and is given all sizes where there are more."""

import keras
import numpy as np
import pytest

from firth.layers.elements.types import reshaped

ROWS = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("shape", [(2, 12), (6, 2, 2), (24,)])
def test_known_sizes(shape):
    np.testing.assert_array_equal(
        keras.ops.convert_to_numpy(reshaped(ROWS, shape)), ROWS.reshape(shape).astype("float32")
    )


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="a graph of unknown sizes is TensorFlow's"
)
@pytest.mark.parametrize(("unknown", "packed"), [((0,), 0), ((0, 1), 1)])
def test_one_unknown_size_needs_no_shape_put_together(unknown, packed):
    import tensorflow as tf

    spec = tf.TensorSpec([None if axis in unknown else size for axis, size in enumerate(ROWS.shape)])
    function = tf.function(lambda rows: reshaped(rows, (*keras.ops.shape(rows)[:2], 2, 2)))
    graph = function.get_concrete_function(spec)
    assert [node.op for node in graph.graph.as_graph_def().node].count("Pack") == packed
    np.testing.assert_array_equal(graph(tf.constant(ROWS, tf.float32)).numpy(), ROWS.reshape(2, 3, 2, 2))
