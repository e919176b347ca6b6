"""The layer between, by hand."""

import keras
import numpy as np
import pytest

from firth import layers


def test_feed_forward_by_hand():
    layer = layers.FeedForward(width=1, inner_width=2, activation="relu")
    layer.build((None, None, 1))
    weights = [[2.0], [-3.0]], [1.0, 0.0], [[5.0], [7.0]], [0.5]
    layer.set_weights([np.array(weight) for weight in weights])
    # 1: relu(2 + 1) 5 + relu(-3) 7 + 0.5; -1: relu(-2 + 1) 5 + relu(3) 7 + 0.5.
    found = np.array(layer(np.array([[[1.0], [-1.0]]], "float32")))
    assert found.flatten().tolist() == [15.5, 21.5]


def test_gated_feed_forward_by_hand():
    layer = layers.FeedForward(width=1, inner_width=2, activation="relu", gated=True, biases=False)
    layer.build((None, None, 1))
    weights = {"gate": [[2.0], [-3.0]], "inner": [[1.0], [10.0]], "outer": [[5.0], [7.0]]}
    for weight in layer.weights:
        weight.assign(weights[weight.name.removesuffix("_kernel")])
    # 2: relu(4) 2 5 + relu(-6) 20 7; -1: relu(-2) (-1) 5 + relu(3) (-10) 7.
    found = np.array(layer(np.array([[[2.0], [-1.0]]], "float32")))
    assert found.flatten().tolist() == [40.0, -210.0]


def zeros(tensor) -> float:
    return float((keras.ops.convert_to_numpy(tensor) == 0).mean())


@pytest.mark.parametrize("gated", [False, True])
def test_the_layer_between_is_dropped(gated):
    """With an outer kernel of the identity, the output is the layer between."""
    layer = layers.FeedForward(32, 32, activation="silu", gated=gated, biases=False, dropout=0.25, seed=1)
    hidden = np.random.default_rng(0).normal(size=(8, 16, 32)).astype("float32")
    layer(hidden)
    layer.outer_kernel.assign(np.eye(32, dtype="float32"))
    kept, whole = layer(hidden, training=True), keras.ops.convert_to_numpy(layer(hidden))
    kept = keras.ops.convert_to_numpy(kept)
    assert zeros(kept) == pytest.approx(0.25, abs=0.03) and zeros(whole) == 0
    np.testing.assert_allclose(kept[kept != 0], whole[kept != 0] / 0.75, rtol=1e-4, atol=1e-5)
