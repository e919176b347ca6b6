"""The sample, its expected counts, and the estimate of the loss."""

import keras
import numpy as np
import pytest

from firth.layers import chunked_cross_entropy, sampled_cross_entropy
from firth.layers.losses import count_certain, draw_candidates
from tests.backends.gradients import Scalars, compiled, gradients
from tests.repeating import often

VOCABULARY, WIDTH, ROWS = 60, 4, 5


def many_times(function, times):
    """Calls a function that draws: in a graph on TensorFlow, where a generator may change inside of one."""
    called = compiled(function) if times > 2 and keras.backend.backend() == "tensorflow" else function
    return [called() for _ in range(times)]


def draws(negatives, vocabulary, times, seed=0):
    generator = keras.random.SeedGenerator(seed)
    drawn = many_times(lambda: draw_candidates(negatives, vocabulary, generator), times)
    return [[np.array(part) for part in parts] for parts in drawn]


@pytest.mark.parametrize(
    "negatives, vocabulary", often([(20, 60), (1, 7), (58, 60), (500, 20_000)], [(58, 60)])
)
def test_counts_are_as_expected(negatives, vocabulary):
    times = 100
    counts, expected = np.zeros(vocabulary), np.full(vocabulary, np.nan)
    for ids, log_expected in draws(negatives, vocabulary, times):
        assert ids.shape == log_expected.shape == (negatives,)
        np.add.at(counts, ids, 1)
        expected[ids] = np.exp(log_expected)
    certain = count_certain(negatives, vocabulary)
    assert (counts[:certain] == times).all() and (expected[:certain] == 1).all()
    seen = ~np.isnan(expected)
    assert np.nanmax(expected) <= 1 + 1e-5
    # Five standard errors of a count that is at most Poisson's.
    deviation = np.abs(counts - times * expected)[seen]
    assert (deviation < 5 * np.sqrt(times * expected[seen]) + 5).all()
    if seen.all():
        assert expected.sum() == pytest.approx(negatives, rel=1e-4)


def test_repeats_are_rare():
    ids = draws(8192, 300_000, 1)[0][0]
    assert len(np.unique(ids)) > 0.8 * 8192
    assert ids.min() == 0 and 100_000 < ids.max() < 300_000


def test_the_seed_decides():
    one, two, three = (draws(20, 60, 2, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one[0][0], two[0][0])
    assert (one[0][0] != one[1][0]).any() and (one[0][0] != three[0][0]).any()


def make_inputs(seed=0):
    generator = np.random.default_rng(seed)
    shapes = (ROWS, WIDTH), (VOCABULARY, WIDTH), (VOCABULARY,)
    hidden, table, bias = (generator.normal(size=shape).astype("float32") for shape in shapes)
    return hidden, table, bias, np.array([0, 3, 59, 17, 3])


def test_the_sum_over_the_vocabulary_is_estimated_without_bias():
    hidden, table, bias, labels = make_inputs()
    hidden = hidden / 4
    logits = hidden @ table.T + bias
    exact = np.exp(logits).sum(-1)
    times = 120
    generator = keras.random.SeedGenerator(1)
    estimates = many_times(
        lambda: sampled_cross_entropy(hidden, table, bias, labels, 30, generator)[0], times
    )
    found = [np.exp(np.array(losses) + logits[np.arange(ROWS), labels]) for losses in estimates]
    error = np.std(found, axis=0) / np.sqrt(times)
    assert (np.abs(np.mean(found, axis=0) - exact) < 5 * error).all()
    assert (error < 0.05 * exact).all()


def naive(hidden, table, bias, labels, candidates, log_expected):
    logits = hidden @ table.T + bias
    losses, correct = [], []
    for row, label in enumerate(labels):
        others = [place for place, candidate in enumerate(candidates) if candidate != label]
        weighted = logits[row, candidates[others]] - log_expected[others]
        total = np.exp(logits[row, label]) + np.exp(weighted).sum()
        losses.append(np.log(total) - logits[row, label])
        correct.append(logits[row, label] >= logits[row, candidates[others]].max())
    return losses, correct


def test_equals_a_naive_one():
    hidden, table, bias, labels = make_inputs()
    losses, correct = sampled_cross_entropy(hidden, table, bias, labels, 40, seed=3)
    candidates, log_expected = (np.array(part) for part in draw_candidates(40, VOCABULARY, seed=3))
    expected = naive(hidden, table, bias, labels, candidates, log_expected)
    np.testing.assert_allclose(np.array(losses), expected[0], rtol=1e-5)
    assert np.array(correct).tolist() == expected[1]


def test_gradients_are_those_of_the_loss():
    hidden, table, bias, labels = make_inputs()
    scales = np.array([1.0, -2.0, 0.5, 3.0, 0.0])
    candidates, log_expected = (np.array(part) for part in draw_candidates(25, VOCABULARY, seed=3))

    def loss(*changed):
        return (np.array(naive(*changed, labels, candidates, log_expected)[0]) * scales).sum()

    values = [hidden, table, bias]
    for place, value in enumerate(values):
        layer = Scalars(value)

        def ours(layer=layer, place=place):
            parts = [layer.values if other == place else each for other, each in enumerate(values)]
            losses, _ = sampled_cross_entropy(*parts, labels, 25, seed=3)
            return keras.ops.vdot(losses, scales.astype("float32"))

        (found,) = gradients(layer, ours).values()
        assert isinstance(found, np.ndarray) and found.shape == value.shape
        direction = np.random.default_rng(place).normal(size=value.shape)
        ends = [
            [
                each + sign * 1e-6 * direction if other == place else each.astype("float64")
                for other, each in enumerate(values)
            ]
            for sign in (1, -1)
        ]
        slope = (loss(*ends[0]) - loss(*ends[1])) / 2e-6
        assert (found * direction).sum() == pytest.approx(slope, rel=1e-4)


def test_as_many_candidates_as_words_is_the_full_softmax():
    hidden, table, bias, labels = make_inputs()
    found = sampled_cross_entropy(hidden, table, bias, labels, VOCABULARY, seed=1)
    expected = chunked_cross_entropy(hidden, table, bias, labels)
    for one, other in zip(found, expected):
        np.testing.assert_allclose(np.array(one), np.array(other), atol=1e-5)


def test_more_candidates_than_words():
    with pytest.raises(ValueError, match=r"7 .*negatives=8"):
        draw_candidates(8, 7, seed=1)
