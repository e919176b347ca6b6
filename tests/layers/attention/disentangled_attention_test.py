"""DeBERTa's attention against plain NumPy, its embeddings of distances, and packed rows."""

import keras
import numpy as np
import pytest

from firth.layers import DisentangledAttention, DisentangledPositions, MaskedTransformer, StackConfig
from firth.layers.attention.attention_bias import attention_bias
from firth.layers.positions.disentangled_positions import rows_by_distance
from tests.backends.gradients import compiled_where_it_pays

WIDTH, HEADS = 8, 2
POSITIONS = {"kind": "disentangled", "max_distance": 9, "buckets": 4}


def randomized(layer, seed=0):
    """Gives a built layer weights that are all random: zeros and ones hide mistakes."""
    generator = np.random.default_rng(seed)
    layer.set_weights([generator.normal(size=value.shape) * 0.5 for value in layer.get_weights()])
    return layer


def softmax(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


def naive(hidden, documents, relative, weights):
    """One pair of tokens at a time; the paper's formula with the distance of the reference code."""
    length, head_width = len(hidden), WIDTH // HEADS
    kernel, bias, output, output_bias = weights
    query, key, value = np.split(hidden @ kernel + bias, 3, axis=-1)
    position_query, position_key, _ = np.split(relative @ kernel + bias, 3, axis=-1)
    context = np.zeros_like(hidden)
    for head in np.split(np.arange(WIDTH), HEADS):
        for i in range(length):
            seen = np.nonzero(documents == documents[i])[0]
            scores = [
                query[i, head] @ key[j, head]
                + query[i, head] @ position_key[length - (i - j), head]
                + key[j, head] @ position_query[length - (i - j), head]
                for j in seen
            ]
            context[i, head] = softmax(np.array(scores) / np.sqrt(3 * head_width)) @ value[seen][:, head]
    return context @ output + output_bias


def test_attention_equals_a_naive_one():
    generator = np.random.default_rng(0)
    hidden = generator.normal(size=(2, 5, WIDTH)).astype("float32")
    relative = generator.normal(size=(11, WIDTH)).astype("float32")
    documents = np.array([[1, 1, 2, 2, 0], [1, 1, 1, 1, 1]])
    layer = DisentangledAttention(WIDTH, HEADS)
    layer.build(hidden.shape)
    randomized(layer)
    named = {weight.path.split("/", 1)[1]: weight.numpy() for weight in layer.weights}
    weights = [named[name] for name in ("kernel", "bias", "output/kernel", "output/bias")]
    found = layer(hidden, attention_bias(documents), relative)
    for row in range(2):
        expected = naive(hidden[row], documents[row], relative, weights)
        np.testing.assert_allclose(np.array(found)[row], expected, atol=1e-5)


def test_rows_by_distance():
    assert rows_by_distance(4, None).tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 7]
    # Half of 4 buckets hold a distance each, 3 to 8 share the next; what lies beyond has the last.
    expected = [0, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7, 7]
    assert rows_by_distance(9, 4).tolist() == expected
    large = rows_by_distance(512, 256)[512:] - 256
    assert large[:129].tolist() == list(range(129))
    # ceil(127 log(d / 128) / log(511 / 128)) + 128.
    assert [large[distance] for distance in (130, 200, 256, 400, 510, 511, 512)] == [
        130,
        169,
        192,
        233,
        255,
        255,
        255,
    ]


@pytest.mark.parametrize("length", [1, 3, 12])
def test_positions_are_rows_of_the_normed_table(length):
    layer = DisentangledPositions(WIDTH, max_distance=9, buckets=4)
    layer.build()
    randomized(layer)
    named = {weight.path.split("/", 1)[1]: weight.numpy() for weight in layer.weights}
    table = named["table"]
    normed = (table - table.mean(1, keepdims=True)) / table.std(1, keepdims=True)
    normed = normed * named["norm/gamma"] + named["norm/beta"]
    distances = np.arange(length, -length - 1, -1)
    expected = normed[rows_by_distance(9, 4)[np.clip(distances, -9, 9) + 9]]
    found = keras.ops.convert_to_numpy(layer(np.zeros((2, length), "int32")))
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: DisentangledAttention(8, 4, key_value_heads=2), "key_value_heads=2, heads=4"),
        (lambda: DisentangledPositions(8, max_distance=0), "max_distance=0"),
        (lambda: DisentangledPositions(8, max_distance=4, buckets=6), "buckets=6, max_distance=4"),
        (lambda: DisentangledPositions(8, buckets=1), "buckets=1"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.fixture(scope="module")
def encoder():
    encoder = MaskedTransformer(
        StackConfig(layers=3, width=16, attention={"heads": 4}, positions=POSITIONS, initializer_stddev=0.3),
        seed=1,
    )
    encoder.build((None, None, 16))
    return encoder


def test_alone_equals_packed(encoder):
    lengths, generator = (5, 12, 4), np.random.default_rng(0)
    documents = [generator.normal(size=(length, 16)).astype("float32") for length in lengths]
    padding = generator.normal(size=(3, 16)).astype("float32") * 100
    ids = np.pad(np.repeat([1, 2, 3], lengths), (0, 3))
    together = np.array(encoder(np.concatenate([*documents, padding])[None], ids[None]))[0]
    for index, document in enumerate(documents):
        ones = np.ones((1, len(document)), "int32")
        alone = np.array(compiled_where_it_pays(lambda *args: encoder(*args))(document[None], ones))[0]
        np.testing.assert_allclose(together[ids == index + 1], alone, atol=1e-5)


def test_order_is_told_by_distances_alone(encoder):
    hidden = np.random.default_rng(0).normal(size=(1, 6, 16)).astype("float32")
    ones = np.ones((1, 6), "int32")
    straight, reversed_ = (np.array(encoder(value, ones))[0] for value in (hidden, hidden[:, ::-1]))
    assert np.abs(straight - reversed_[::-1]).max() > 1e-2


def test_the_table_is_dropped_in_training():
    layer = DisentangledPositions(WIDTH, dropout=0.5, seed=1)
    found = np.array(layer(np.zeros((1, 4), "int32"), training=True))
    assert 0.2 < (found == 0).mean() < 0.8
