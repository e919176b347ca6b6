import numpy as np

from firth.layers import Highway


def test_highway_by_hand():
    layer = Highway(width=2)
    layer.build((None, None, 2))
    # A gate of a half for the first feature, and all but closed for the second.
    kernel = [[0.0, 0.0, 3.0, 0.0], [0.0, 0.0, 0.0, 5.0]]
    layer.set_weights([np.array(kernel), np.array([0.0, -50.0, 1.0, 0.0])])
    found = np.array(layer(np.array([[[2.0, 4.0], [-2.0, -4.0]]], "float32")))
    # relu(3 * 2 + 1) and 2; relu(3 * -2 + 1) and -2.
    np.testing.assert_allclose(found, [[[4.5, 4.0], [-1.0, -4.0]]], atol=1e-6)


def test_highways_start_by_passing_their_input():
    layer = Highway(width=3)
    layer.build((None, None, 3))
    assert np.array(layer.bias.value).tolist() == [-2.0, -2.0, -2.0, 0.0, 0.0, 0.0]
