import numpy as np

from firth import layers


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
