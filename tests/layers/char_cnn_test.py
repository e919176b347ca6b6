"""Words from characters, against loops."""

import numpy as np
import pytest
from keras import ops

from firth.layers import CharCNN, Highway, ScalarMix
from tests.backends.gradients import gradients

FILTERS = [(1, 3), (2, 2), (5, 4), (3, 2)]
ALPHABET, WIDTH, MAX_CHARACTERS = 9, 3, 8


def make(activation):
    layer = CharCNN(FILTERS, WIDTH, ALPHABET, activation, seed=1)
    layer.build()
    generator = np.random.default_rng(0)
    layer.set_weights([generator.normal(size=value.shape) for value in layer.get_weights()])
    return layer


def words(*lengths):
    """Words of random characters, each followed by padding of the character 8; the longest has none."""
    generator = np.random.default_rng(1)
    found = np.full((1, len(lengths), MAX_CHARACTERS), 8, "int32")
    for place, length in enumerate(lengths):
        found[0, place, :length] = generator.integers(0, 8, length)
    return found


def naive(layer, characters):
    """One word, one convolution and one place at a time, with the backend's own gradient."""
    vectors = []
    for word in characters[0]:
        largest = []
        for kernel, (width, _) in zip(layer.kernels, FILTERS):
            places = []
            for start in range(MAX_CHARACTERS - width + 1):
                window = [layer.table[int(character)] for character in word[start : start + width]]
                places.append(sum(ops.matmul(row, kernel[shift]) for shift, row in enumerate(window)))
            largest.append(ops.max(ops.stack(places), axis=0))
        vectors.append(ops.concatenate(largest))
    activate = ops.relu if layer.activation == "relu" else ops.tanh
    return activate(ops.stack(vectors)[None] + layer.bias)


@pytest.mark.parametrize(
    "lengths, activation",
    [
        ((1, 3), "relu"),
        ((4, 5), "tanh"),
        pytest.param((6, 8, 2), "relu", marks=pytest.mark.repeated),
        ((0,), "tanh"),
    ],
)
def test_equals_a_naive_one(lengths, activation):
    layer, characters = make(activation), words(*lengths)
    direction = np.random.default_rng(2).normal(size=(1, len(lengths), 11)).astype("float32")
    np.testing.assert_allclose(np.array(layer(characters)), np.array(naive(layer, characters)), atol=1e-5)
    found = gradients(layer, lambda: ops.sum(ops.multiply(layer(characters), direction)))
    expected = gradients(layer, lambda: ops.sum(ops.multiply(naive(layer, characters), direction)))
    for path, value in expected.items():
        np.testing.assert_allclose(found[path], value, atol=1e-5, err_msg=path)


def test_kernels_start_as_in_the_reference_code():
    """Under tanh, one value in a thousand of this normal distribution is beyond 3.3 stddevs of 1 / 8."""
    for activation, most in (("relu", 0.05), ("tanh", 0.5)):
        layer = CharCNN([(4, 50)], 16, ALPHABET, activation, seed=1)
        layer.build()
        assert 0.8 * most < np.abs(np.array(layer.kernels[0])).max() <= most, activation


def test_words_too_short_for_the_filters():
    with pytest.raises(ValueError, match=r"filters=.*\[5, 4\].*\(1, 2, 4\)"):
        make("relu")(np.zeros((1, 2, 4), "int32"))


@pytest.mark.parametrize(
    "make_layer, message",
    [
        (lambda: ScalarMix(0), "layers=0"),
        (lambda: ScalarMix(2, dropout=1.0), r"dropout=1\.0"),
        (lambda: ScalarMix(2)(np.ones((1, 3, 1, 1))), r"layers=2, .*\(1, 3, 1, 1\)"),
        (lambda: CharCNN([(1, 0)]), "filters=0"),
        (lambda: CharCNN([(1, 2)], activation="gelu"), "activation='gelu'"),
        (lambda: Highway(4)(np.ones((1, 1, 3))), r"width=4, .*\(1, 1, 3\)"),
    ],
)
def test_arguments(make_layer, message):
    with pytest.raises(ValueError, match=message):
        make_layer()


def test_max_characters_may_be_many():
    layer = CharCNN([(2, 3)], 2, 5, seed=1)
    characters = np.random.default_rng(0).integers(0, 5, (1, 2, 300)).astype("int32")
    found = np.array(layer(characters))
    values = np.array(layer.table.value)[characters]
    kernel = np.array(layer.kernels[0].value)
    summed = values[:, :, :-1] @ kernel[0] + values[:, :, 1:] @ kernel[1]
    np.testing.assert_allclose(found, np.maximum(summed.max(2), 0), atol=1e-6)
