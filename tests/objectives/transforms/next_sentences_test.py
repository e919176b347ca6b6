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
    example, negative = tensors(example), tensors(negative)
    draws = np.random.default_rng(0).integers(0, 2**31, (seeds, 4, 2))
    types = (*[tf.int32] * 4, tf.bool, tf.bool)

    @tf.function(autograph=False)
    def run():
        one = lambda each: tuple(choose_pairs(example, negative, rate, each))  # noqa: E731
        return tf.map_fn(one, tf.constant(draws), fn_output_signature=types)

    names = ("first_sources", "first_lengths", "second_sources", "second_lengths", "is_other", "is_pair")
    return dict(zip(names, (each.numpy() for each in run())))


def test_a_run_of_whole_sentences_as_long_as_the_true_segment():
    """B is 13 14. The other document has sentences of 1, 2, 3 and 2 tokens; the first one begins no B."""
    example = row(range(10, 15), [5], [1], RAW_LENGTH, 2, sentence_starts=marked(5, {0, 3}))
    negative = row(range(20, 28), [8], [2], RAW_LENGTH, 2, sentence_starts=marked(8, {0, 1, 3, 6}))
    made = choices(example, negative)
    assert made["is_other"][:, 0].all() and made["is_pair"][:, 0].all()
    assert (made["first_lengths"][:, 0] == 3).all() and (made["second_lengths"][:, 0] == 2).all()
    values, counts = np.unique(made["second_sources"][:, 0], return_counts=True)
    assert values.tolist() == [RAW_LENGTH + 1, RAW_LENGTH + 6]
    assert counts.min() > 70


def test_without_such_a_run_either_label_is_cut_within_its_last_sentence():
    """B has up to three sentences, the last of 3 tokens; the other document has one of 9 after its first."""
    example = row(range(10, 18), [8], [1], RAW_LENGTH, 1, sentence_starts=marked(8, {0, 2, 4, 5}))
    negative = row(range(20, 30), [10], [2], RAW_LENGTH, 1, sentence_starts=marked(10, {0, 1}))
    lengths = {}
    for rate in (0.0, 1.0):
        made = choices(example, negative, rate)
        assert made["is_pair"].all()
        ends = made["first_lengths"] + made["second_lengths"]
        assert set(np.unique(ends)) == {6, 7, 8}
        lengths[rate] = made["second_lengths"]
    np.testing.assert_array_equal(lengths[0.0], lengths[1.0])


def test_a_split_whose_rest_the_other_row_can_fill_is_preferred():
    """It has two tokens from a sentence on, which is the rest after the second of three sentences."""
    example = row(range(10, 18), [8], [1], RAW_LENGTH, 1, sentence_starts=marked(8, {0, 3, 6}))
    negative = row(range(20, 25), [5], [2], RAW_LENGTH, 1, sentence_starts=marked(5, {0, 3}))
    assert np.unique(choices(example, negative)["first_lengths"]).tolist() == [6]


def test_a_chunk_of_one_sentence_takes_the_end_of_one_that_begins_as_it_does():
    """10 to 14 are one sentence of words of two pieces, cut at a word: so is the end of 25 26 27 28."""
    example = row(range(10, 14), [4], [1], RAW_LENGTH, 1, word_starts=[1, 0, 1, 0])
    negative = row(
        range(20, 29),
        [9],
        [2],
        RAW_LENGTH,
        1,
        word_starts=[1, 1, 1, 1, 1, 1, 0, 1, 0],
        sentence_starts=marked(9, {0, 5}),
    )
    made = choices(example, negative)
    assert made["is_pair"].all() and (made["first_lengths"] == 2).all()
    assert set(np.unique(made["second_sources"])) == {RAW_LENGTH + 3, RAW_LENGTH + 7}


@pytest.mark.parametrize("negative", [
    row(range(20, 25), [5], [1], RAW_LENGTH, 2, sentence_starts=marked(5, {0, 3})),
    row(range(20, 25), [5], [2], RAW_LENGTH, 2, sentence_starts=marked(5, {0})),
    empty_row(RAW_LENGTH, 2),
], ids=["same document", "one sentence", "nobody"])  # fmt: skip
def test_a_pair_for_which_there_is_nothing_has_no_label(negative):
    """Also where its label would not have been a random one: one that can only be true tells its length."""
    example = row(range(10, 15), [5], [1], RAW_LENGTH, 2, sentence_starts=marked(5, {0, 3}))
    made = choices(example, negative, rate=0.5, seeds=20)
    assert not made["is_pair"].any() and not made["is_other"].any()
    assert (made["second_lengths"][:, 0] == 2).all()
