"""The conditional random field, next to all sequences of tags written out."""

import itertools

import keras
import numpy as np
import pytest

from firth.layers import LinearChainCRF
from tests.backends.gradients import compiled, gradients

TAGS = 3
# Two rows of chains between tokens of none; in the first, two chains touch each other.
CHAINS = np.array([[0, 1, 1, 1, 2, 2, 0], [5, 0, 7, 7, 7, 7, 0]], "int32")


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


@pytest.fixture(scope="module")
def case():
    generator = np.random.default_rng(1)
    crf = LinearChainCRF(TAGS)
    crf.build((None, None, TAGS))
    for weight in crf.weights:
        weight.assign(generator.normal(size=weight.shape))
    emissions = generator.normal(size=(*CHAINS.shape, TAGS)).astype("float32")
    return crf, emissions, generator.integers(0, TAGS, CHAINS.shape).astype("int32")


def chains():
    """Each chain's row, and its first and last token."""
    for row, ids in enumerate(CHAINS):
        for number in sorted({*ids.tolist()} - {0}):
            places = np.flatnonzero(ids == number)
            yield row, places[0], places[-1] + 1


def score(crf, emissions, tags):
    starts, ends, transitions = (numpy(each.value) for each in (crf.starts, crf.ends, crf.transitions))
    pairs = sum(transitions[one, other] for one, other in itertools.pairwise(tags))
    return starts[tags[0]] + ends[tags[-1]] + pairs + sum(each[tag] for each, tag in zip(emissions, tags))


def all_of(crf, emissions):
    """All sequences of tags of a chain, and their scores."""
    sequences = list(itertools.product(range(TAGS), repeat=len(emissions)))
    return np.array(sequences), np.array([score(crf, emissions, tags) for tags in sequences])


def test_the_losses_of_a_chain_are_its_negative_log_likelihood(case):
    crf, emissions, tags = case
    losses = numpy(crf.losses(emissions, CHAINS, tags))
    assert not losses[CHAINS == 0].any() and (losses >= -1e-6).all()
    for row, start, end in chains():
        _, scores = all_of(crf, emissions[row, start:end])
        likelihood = score(crf, emissions[row, start:end], tags[row, start:end]) - np.logaddexp.reduce(scores)
        assert losses[row, start:end].sum() == pytest.approx(-likelihood, abs=1e-5)


def test_each_loss_is_that_of_a_tag_given_those_before_it(case):
    crf, emissions, tags = case
    losses = numpy(crf.losses(emissions, CHAINS, tags))
    for row, start, end in chains():
        sequences, scores = all_of(crf, emissions[row, start:end])
        shares = np.exp(scores - np.logaddexp.reduce(scores))
        for place, tag in enumerate(tags[row, start:end]):
            so_far = (sequences[:, :place] == tags[row, start : start + place]).all(axis=1)
            share = shares[so_far & (sequences[:, place] == tag)].sum() / shares[so_far].sum()
            assert losses[row, start + place] == pytest.approx(-np.log(share), abs=1e-5)


def test_tags_have_their_share_of_all_sequences(case):
    crf, emissions, _ = case
    found = np.exp(numpy(compiled(crf)(emissions, CHAINS)))
    for row, start, end in chains():
        sequences, scores = all_of(crf, emissions[row, start:end])
        shares = np.exp(scores - np.logaddexp.reduce(scores))
        for place, tag in itertools.product(range(end - start), range(TAGS)):
            assert found[row, start + place, tag] == pytest.approx(
                shares[sequences[:, place] == tag].sum(), abs=1e-5
            )


def test_the_best_scores_are_those_of_the_best_sequences(case):
    crf, emissions, _ = case
    found = numpy(crf.best_scores(emissions, CHAINS))
    for row, start, end in chains():
        sequences, scores = all_of(crf, emissions[row, start:end])
        assert found[row, start:end].argmax(axis=1).tolist() == sequences[scores.argmax()].tolist()
        for place, tag in itertools.product(range(end - start), range(TAGS)):
            best = scores[sequences[:, place] == tag].max()
            assert found[row, start + place, tag] == pytest.approx(best, abs=1e-5)


def test_every_weight_gets_the_gradient_of_the_likelihood(case):
    """Observed minus expected counts, as Lafferty et al. have it."""
    crf, emissions, tags = case
    found = gradients(crf, lambda: keras.ops.sum(crf.losses(emissions, CHAINS, tags)))
    expected = {weight.path: np.zeros(weight.shape) for weight in crf.weights}

    def count(sequence, share):
        expected[crf.starts.path][sequence[0]] += share
        expected[crf.ends.path][sequence[-1]] += share
        for one, other in itertools.pairwise(sequence):
            expected[crf.transitions.path][one, other] += share

    for row, start, end in chains():
        sequences, scores = all_of(crf, emissions[row, start:end])
        for sequence, share in zip(sequences, np.exp(scores - np.logaddexp.reduce(scores))):
            count(sequence, share)
        count(tags[row, start:end], -1.0)
    for path, value in expected.items():
        np.testing.assert_allclose(found[path], value, atol=1e-4)
