"""Scores of vectors: the nearest text, and the order of cosines."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from firth.scores.bootstrap import RESAMPLES
from firth.scores.collected_scores import Collected, compute_interval
from firth.scores.vectors import TextVectors, cosine_spearman, retrieval_accuracy


def made_up(count=40, width=6, noise=0.3, seed=0):
    """Vectors of pairs, float32 [count, 2, width], some of whose second texts are nearer to others."""
    chosen = np.random.default_rng(seed)
    firsts = chosen.normal(size=(count, width))
    pairs = np.stack([firsts, firsts + noise * chosen.normal(size=firsts.shape)], axis=1)
    return (pairs / np.linalg.norm(pairs, axis=-1, keepdims=True)).astype("float32")


def predictions(pairs):
    return [TextVectors(first.tobytes(), second.tobytes()) for first, second in pairs]


def test_the_nearest_second_text_is_found():
    pairs = made_up()
    hits = [np.argmax(pairs[:, 1] @ pair[0]) == place for place, pair in enumerate(pairs)]
    assert 0 < sum(hits) < len(hits)
    assert retrieval_accuracy([1.0] * 40, predictions(pairs)) == np.mean(hits)
    numbers = [float(place % 5) for place in range(40)]
    asked = [hit for hit, number in zip(hits, numbers) if number >= 3]
    assert retrieval_accuracy(numbers, predictions(pairs), positive_from=3) == np.mean(asked)


def test_equal_second_texts_are_right_for_both():
    pairs = made_up(noise=0.01)
    pairs[1, 1] = pairs[0, 1]
    pairs[1, 0] = pairs[0, 0]
    assert retrieval_accuracy([1.0] * 40, predictions(pairs)) == 1.0


def test_cosines_are_ordered_as_the_numbers():
    pairs = made_up()
    numbers = np.random.default_rng(1).normal(size=40).tolist()
    cosines = np.sum(pairs[:, 0].astype("float64") * pairs[:, 1], axis=-1)
    assert cosine_spearman(numbers, predictions(pairs)) == pytest.approx(spearmanr(numbers, cosines)[0])


@pytest.mark.parametrize("score", ["cosine_spearman", "retrieval_accuracy"])
def test_intervals_hold_the_value(score):
    pairs, numbers = made_up(), np.random.default_rng(2).uniform(size=40).tolist()
    examples = [
        Collected(f"{place:02}", number, given)
        for place, (number, given) in enumerate(zip(numbers, predictions(pairs)))
    ]
    value, low, high = compute_interval(score, examples, resamples=RESAMPLES)
    assert low < value < high
