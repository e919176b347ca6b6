import numpy as np

from firth import layers


def test_pooler_takes_the_given_positions():
    layer = layers.Pooler(width=1)
    layer.build((None, None, 1))
    layer.set_weights([np.array([[2.0]]), np.array([0.0])])
    found = np.array(layer(np.array([[[0.1], [0.2], [0.3]]], "float32"), np.array([[2, 0]])))
    np.testing.assert_allclose(found[0, :, 0], np.tanh([0.6, 0.2]), atol=1e-6)
