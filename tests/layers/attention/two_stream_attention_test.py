"""XLNet's attention against plain NumPy, and who sees whom in its two streams."""

import keras
import numpy as np
import pytest

from firth.layers import TwoStreamAttention, TwoStreamTransformer
from firth.layers.positions.sinusoidal_positions import relative_sinusoids

WIDTH, HEADS, LENGTH = 8, 2, 6
HEAD_WIDTH = WIDTH // HEADS
DOCUMENTS = np.array([[1, 1, 1, 1, 2, 2], [1, 1, 1, 1, 1, 0]], "int32")
SEGMENTS = np.array([[0, 0, 1, 2, 0, 1], [0, 1, 1, 1, 2, 0]], "int32")
# Context has the order 0; what is predicted comes one after another.
ORDER = np.array([[0, 2, 1, 0, 1, 0], [3, 0, 1, 0, 2, 0]], "int32")
PREDICTED = np.array([[1, 2, 4], [0, 2, 4]], "int32")


def normal(seed: int, *shape) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def visible(own: bool) -> np.ndarray:
    """Which keys each place sees, bool [batch, length, length]; with `own`, those of its own order too."""
    same = DOCUMENTS[:, :, None] == DOCUMENTS[:, None]
    below = ORDER[:, None] <= ORDER[:, :, None] if own else ORDER[:, None] < ORDER[:, :, None]
    return same & below


def softmax(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


def naive(queries, places, content, segments, seen, weights):
    """One pair at a time, by the formula; a query that sees nothing reads zeros."""
    sinusoids = {
        distance: np.concatenate([np.sin(angles), np.cos(angles)])
        for distance in range(-LENGTH, LENGTH + 1)
        for angles in [distance * 10_000.0 ** (-np.arange(0, WIDTH, 2) / WIDTH)]
    }
    query = queries @ weights["query_kernel"]
    key, value = np.split(content @ weights["kernel"], 2, axis=-1)
    context = np.zeros_like(queries)
    for index, columns in enumerate(np.split(np.arange(WIDTH), HEADS)):
        u, v, w = (weights[f"{name}_bias"][index, 0] for name in ("content", "position", "segment"))
        for row, i in enumerate(places):
            keys = np.nonzero(seen[i])[0]
            scores = []
            for j in keys:
                q, distance = query[row, columns], (sinusoids[i - j] @ weights["relative_kernel"])[columns]
                segment = weights["segments"][int(segments[i] != segments[j]), index, 0]
                scores.append((q + u) @ key[j, columns] + (q + v) @ distance + (q + w) @ segment)
            if scores:
                share = softmax(np.array(scores) / np.sqrt(HEAD_WIDTH))
                context[row, columns] = share @ value[keys][:, columns]
    return context @ weights["output/kernel"]


def bias_where(seen):
    return np.where(seen, 0.0, -1e9).astype("float32")[:, None]


def differs(places):
    own = np.take_along_axis(SEGMENTS, places, axis=1)
    return (own[:, :, None] != SEGMENTS[:, None]).astype("float32")[:, None]


def rows_of(matrix, places):
    return np.take_along_axis(matrix, places[:, :, None], axis=1)


@pytest.mark.parametrize("streams", ["content", "query", "both"])
def test_attention_equals_a_naive_one(streams):
    content, query = normal(0, 2, LENGTH, WIDTH), normal(1, 2, 3, WIDTH)
    everywhere = np.tile(np.arange(LENGTH), (2, 1))
    parts = {
        "content": (content, everywhere, visible(own=True)),
        "query": (query, PREDICTED, visible(own=False)),
    }
    chosen = [parts[name] for name in parts if streams in (name, "both")]
    layer = TwoStreamAttention(WIDTH, HEADS, initializer_stddev=0.5, seed=3)
    layer.build(content.shape)
    weights = {weight.path.split("/", 1)[1]: weight.numpy() for weight in layer.weights}
    found = layer(
        np.concatenate([part[0] for part in chosen], axis=1),
        content,
        relative_sinusoids(LENGTH, WIDTH),
        np.concatenate([differs(places) for _, places, _ in chosen], axis=2),
        np.concatenate([bias_where(rows_of(seen, places)) for _, places, seen in chosen], axis=2),
        None if streams == "content" else PREDICTED,
        both=streams == "both",
    )
    for row in range(2):
        expected = [
            naive(states[row], places[row], content[row], SEGMENTS[row], seen[row], weights)
            for states, places, seen in chosen
        ]
        np.testing.assert_allclose(np.array(found)[row], np.concatenate(expected), atol=1e-5)


def stack(layers):
    shape = {"layers": layers, "width": WIDTH, "attention": {"heads": HEADS}, "initializer_stddev": 0.5}
    return TwoStreamTransformer(shape, seed=1)


@pytest.fixture(scope="module")
def encoder():
    encoder = stack(layers=3)
    encoder.build((None, None, WIDTH))
    return encoder


def run(encoder, content, order=ORDER, **query):
    return keras.ops.convert_to_numpy(encoder(content, DOCUMENTS, SEGMENTS, order, **query))


def changes(function, content) -> np.ndarray:
    """Which outputs a change of each token changes, bool [batch, outputs, length]."""
    before, found = function(content), []
    for place in range(LENGTH):
        changed = content.copy()
        changed[:, place] += 1.0
        found.append((function(changed) != before).any(axis=-1))
    return np.stack(found, axis=-1)


def test_the_content_stream_sees_what_the_order_allows(encoder):
    found = changes(lambda content: run(encoder, content), normal(0, 2, LENGTH, WIDTH))
    np.testing.assert_array_equal(found, visible(own=True))


def test_without_an_order_documents_are_seen_whole(encoder):
    found = changes(lambda content: run(encoder, content, order=None), normal(0, 2, LENGTH, WIDTH))
    np.testing.assert_array_equal(found, DOCUMENTS[:, :, None] == DOCUMENTS[:, None])


def test_the_query_stream_is_blind_to_its_own_token_and_to_later_ones(encoder):
    query = {"query": normal(1, 2, 3, WIDTH), "positions": PREDICTED}
    found = changes(lambda content: run(encoder, content, **query), normal(0, 2, LENGTH, WIDTH))
    np.testing.assert_array_equal(found, rows_of(visible(own=False), PREDICTED))


def test_a_query_that_may_see_nothing_learns_nothing(encoder):
    query = {"query": normal(1, 2, 3, WIDTH), "positions": PREDICTED, "order": np.zeros_like(ORDER)}
    found = changes(lambda content: run(encoder, content, **query), normal(0, 2, LENGTH, WIDTH))
    assert not found.any()


def test_the_query_stream_knows_where_it_stands(encoder):
    content, query = normal(0, 2, LENGTH, WIDTH), np.tile(normal(1, 1, 1, WIDTH), (2, 3, 1))
    same_order = np.where(np.isin(np.arange(LENGTH), [1, 2]), 1, 0) * np.ones((2, 1), "int32")
    found = run(encoder, content, same_order.astype("int32"), query=query, positions=PREDICTED)
    assert np.abs(found[0, 0] - found[0, 1]).max() > 1e-3


def test_one_block():
    """The last block, which renews the query stream alone, may be the first."""
    encoder = stack(layers=1)
    query = {"query": normal(1, 2, 3, WIDTH), "positions": PREDICTED}
    found = changes(lambda content: run(encoder, content, **query), normal(0, 2, LENGTH, WIDTH))
    np.testing.assert_array_equal(found, rows_of(visible(own=False), PREDICTED))


@pytest.mark.parametrize("missing", ["attention_order", "positions"])
def test_a_query_stream_needs_an_order_and_positions(encoder, missing):
    given = {"attention_order": ORDER, "positions": PREDICTED, missing: None}
    with pytest.raises(ValueError, match=f"{missing}=None"):
        encoder(normal(0, 2, LENGTH, WIDTH), DOCUMENTS, SEGMENTS, query=normal(1, 2, 3, WIDTH), **given)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: TwoStreamTransformer({"width": 9, "attention": {"heads": 3}}), "width: 9 "),
        (lambda: TwoStreamTransformer({"layers": 0, "width": 8, "attention": {"heads": 2}}), "layers: .*0"),
        (lambda: TwoStreamAttention(8, 4, key_value_heads=2), "key_value_heads=2, heads=4"),
        (lambda: relative_sinusoids(3, width=5), "width=5"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()
