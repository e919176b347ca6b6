import numpy as np

from firth.layers.elements.norms import build_norm


def test_norms_by_hand():
    states = np.array([[3.0, 4.0]], "float32")
    # Mean 3.5 and variance 0.25; mean square 12.5.
    layer_norm, rms_norm = build_norm(epsilon=0.75), build_norm("rms_norm", epsilon=3.5)
    np.testing.assert_allclose(np.array(layer_norm(states)), [[-0.5, 0.5]], atol=1e-6)
    np.testing.assert_allclose(np.array(rms_norm(states)), [[0.75, 1.0]], atol=1e-6)
    without = build_norm(biases=False)
    without.build(states.shape)
    assert [weight.name for weight in without.weights] == ["gamma"]
