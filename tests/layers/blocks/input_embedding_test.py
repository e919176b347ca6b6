import numpy as np

from firth import layers


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
