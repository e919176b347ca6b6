"""Random second segments, by hand."""

import numpy as np
import pytest
import tensorflow as tf

from firth.objectives.transforms.next_sentences import choose_pairs
from tests.objectives.rows import empty_row, row
from tests.objectives.transforms.pairs_test import marked, tensors

RAW_LENGTH = 20


def choices(example, negative, rate=1.0, seeds=200):
    """The pairs of many draws, as arrays [seeds, max_documents] by name."""
    draws = np.random.default_rng(0).integers(0, 2**31, (seeds, 4, 2))
    found = in_graph(tensors(example), tensors(negative), tf.constant(rate), tf.constant(draws))
    names = ("first_sources", "first_lengths", "second_sources", "second_lengths", "is_other", "is_pair")
    return dict(zip(names, (each.numpy() for each in found)))


# Rows of a shape share a graph.
@tf.function(autograph=False, reduce_retracing=True)
def in_graph(example, negative, rate, draws):
    types = (*[tf.int32] * 4, tf.bool, tf.bool)
    one = lambda each: tuple(choose_pairs(example, negative, rate, each))  # noqa: E731
    return tf.map_fn(one, draws, fn_output_signature=types)


def only(values):
    (value,) = np.unique(values)
    return value


def test_both_chunks_are_split_where_their_rests_are_most_alike():
    """Rests of 12 and 6 tokens, and one of 7: both lose what is longer than 6, and a token more."""
    example = row(range(10, 26), [16], [1], RAW_LENGTH, 2, sentence_starts=marked(16, {0, 4, 10}))
    negative = row(range(20, 32), [12], [2], RAW_LENGTH, 2, sentence_starts=marked(12, {0, 5}))
    for rate, source in ((0.0, 10), (1.0, RAW_LENGTH + 5)):
        made = choices(example, negative, rate, seeds=20)
        assert made["is_pair"][:, 0].all() and only(made["is_other"][:, 0]) == (rate > 0)
        found = (made[name][:, 0] for name in ("first_lengths", "second_sources", "second_lengths"))
        assert [only(each) for each in found] == [10, source, 5]


def test_of_splits_that_are_as_good_any_is_taken():
    example = row(range(10, 18), [8], [1], RAW_LENGTH, 1, sentence_starts=marked(8, {0, 2, 5}))
    negative = row(range(20, 28), [8], [2], RAW_LENGTH, 1, sentence_starts=marked(8, {0, 2, 5}))
    made = choices(example, negative)
    values, counts = np.unique(made["first_lengths"], return_counts=True)
    assert values.tolist() == [2, 5] and counts.min() > 50
    assert (made["second_sources"] - made["first_lengths"] == RAW_LENGTH).all()


def test_each_chunk_of_the_negative_row_is_that_of_one_chunk():
    """One of two chunks has none, where the negative row has one; of its three chunks two are taken."""
    sentences = marked(18, {0, 3, 6, 9, 12, 15})
    two = row(range(12), [6, 6], [1, 2], RAW_LENGTH, 3, sentence_starts=sentences[:12])
    one = row(range(6), [6], [3], RAW_LENGTH, 3, sentence_starts=sentences[:6])
    made = choices(two, one)
    assert (made["is_pair"].sum(axis=1) == 1).all()
    assert 60 < made["is_pair"][:, 0].sum() < 140
    three = row(range(18), [6, 6, 6], [3, 4, 5], RAW_LENGTH, 3, sentence_starts=sentences)
    made = choices(two, three)
    sources = made["second_sources"][:, :2] - RAW_LENGTH
    assert made["is_pair"][:, :2].all() and (sources[:, 0] != sources[:, 1]).all()
    assert np.unique(sources).tolist() == [3, 9, 15]


def test_a_chunk_of_one_sentence_is_split_within_it_as_is_its_other_one():
    """Words of two pieces: the end of 24 to 29 is as long as that of 10 to 15, and begins with a word."""
    words = [1, 0, 1, 0, 1, 0]
    example = row(range(10, 16), [6], [1], RAW_LENGTH, 1, word_starts=words, sentence_starts=marked(6, {0}))
    negative = row(
        range(20, 30),
        [10],
        [2],
        RAW_LENGTH,
        1,
        word_starts=[1, 1, 1, 1, *words],
        sentence_starts=marked(10, {0, 4}),
    )
    made = choices(example, negative)
    assert made["is_pair"].all() and set(np.unique(made["first_lengths"])) == {2, 4}
    assert (made["second_sources"] - RAW_LENGTH == made["first_lengths"] + 4).all()
    assert (made["second_lengths"] == 6 - made["first_lengths"] - 1).all()


@pytest.mark.parametrize("negative", [
    row(range(20, 25), [5], [1], RAW_LENGTH, 2, sentence_starts=marked(5, {0, 3})),
    row([20], [1], [2], RAW_LENGTH, 2, sentence_starts=[1]),
    empty_row(RAW_LENGTH, 2),
], ids=["same document", "one token", "nobody"])  # fmt: skip
def test_a_pair_for_which_there_is_nothing_has_no_label(negative):
    """Also where its label would not have been a random one: one that can only be true tells its length."""
    example = row(range(10, 15), [5], [1], RAW_LENGTH, 2, sentence_starts=marked(5, {0, 3}))
    made = choices(example, negative, rate=0.5, seeds=20)
    assert not made["is_pair"].any() and not made["is_other"].any()
    assert (made["second_lengths"][:, 0] == 2).all()
