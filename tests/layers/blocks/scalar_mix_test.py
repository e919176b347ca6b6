import numpy as np

from firth.layers import ScalarMix


def test_scalar_mix_by_hand():
    layer = ScalarMix(layers=3)
    hidden = np.array([[[[1.0, 0.0]], [[0.0, 2.0]], [[4.0, 4.0]]]], "float32")
    layer.build(hidden.shape)
    layer.set_weights([np.log([1.0, 2.0, 5.0]), np.array(10.0)])
    # Shares of 1, 2 and 5 eighths, times 10.
    np.testing.assert_allclose(np.array(layer(hidden)), [[[26.25, 30.0]]], rtol=1e-6)


def test_scalar_mix_norms_each_token_alone():
    layer = ScalarMix(layers=2, layer_norm=True)
    hidden = np.array([[[[1.0, 3.0], [10.0, 10.5]], [[5.0, 5.0], [-1.0, -9.0]]]], "float32")
    # Normed: (-1, 1) and (0, 0); (-1, 1) and (1, -1).
    np.testing.assert_allclose(np.array(layer(hidden)), [[[-0.5, 0.5], [0.0, 0.0]]], atol=1e-5)


def test_scalar_mix_leaves_out_whole_layers():
    layer = ScalarMix(layers=3, dropout=0.4, seed=1)
    hidden = np.array([[[[1.0]], [[10.0]], [[100.0]]]], "float32")
    found = {round(float(np.array(layer(hidden, training=True)).item()), 3) for _ in range(60)}
    subsets = [(1,), (10,), (100,), (1, 10), (1, 100), (10, 100), (1, 10, 100)]
    assert found == {round(float(np.mean(kept)), 3) for kept in subsets}
    assert round(float(np.array(layer(hidden)).item()), 3) == 37.0
