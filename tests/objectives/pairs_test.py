import numpy as np
import tensorflow as tf

from firth.objectives.pairs import choose_pairs, split_chunks
from tests.objectives.rows import empty_row, row

RAW_LENGTH = 20


def splits(example, seeds=400):
    example = tensors(example)
    draws = tf.stack([tf.zeros(seeds, tf.int32), tf.range(seeds)], axis=1)
    return tf.function(lambda: tf.map_fn(lambda seed: split_chunks(example, seed), draws))().numpy()


def tensors(example):
    return {name: tf.constant(value) for name, value in example.items()}


def marked(count, places):
    return [int(index in places) for index in range(count)]


def test_each_sentence_start_within_the_chunk_is_as_likely():
    example = row(range(5, 17), [12], [1], RAW_LENGTH, 2, sentence_starts=marked(12, {0, 3, 7, 10}))
    values, counts = np.unique(splits(example)[:, 0], return_counts=True)
    assert values.tolist() == [3, 7, 10]
    np.testing.assert_allclose(counts, 400 / 3, atol=4 * np.sqrt(400 * 2 / 9))


def test_a_chunk_begins_no_second_segment_of_its_own():
    """The second chunk's first token begins a sentence, and is no split of either chunk."""
    example = row(range(5, 13), [4, 4], [1, 2], RAW_LENGTH, 3, sentence_starts=marked(8, {0, 4}))
    assert np.unique(splits(example, 20), axis=0).tolist() == [[2, 2, 0]]


def test_without_sentences_the_word_start_nearest_to_the_middle():
    example = row(range(5, 15), [10], [1], RAW_LENGTH, 1, word_starts=marked(10, {0, 2, 4, 9}))
    assert np.unique(splits(example, 20)).tolist() == [4]


def test_one_long_word_is_split_in_the_middle():
    example = row(range(5, 11), [6], [1], RAW_LENGTH, 1, word_starts=marked(6, {0}))
    assert np.unique(splits(example, 20)).tolist() == [3]


def test_random_segment_is_cut_to_the_room_and_never_of_the_same_document():
    example = row(range(10, 15), [5], [1], RAW_LENGTH, 2, sentence_starts=marked(5, {0, 3}))
    partner = row(range(20, 30), [5, 5], [1, 2], RAW_LENGTH, 2, sentence_starts=marked(10, {1, 6}))
    seeds = tf.reshape(tf.range(8), (4, 2))
    pairs = choose_pairs(tensors(example), tensors(partner), 1.0, seeds)
    assert pairs.is_other.numpy().tolist() == [True, False]
    # The second chunk of the partner, whose own second segment of four begins at its place 6.
    assert pairs.second_sources.numpy()[0] == RAW_LENGTH + 6
    assert pairs.second_lengths.numpy()[0] == 2


def test_partner_of_the_same_document_leaves_true_pairs():
    example = row(range(10, 15), [5], [1], RAW_LENGTH, 2)
    seeds = tf.reshape(tf.range(8), (4, 2))
    for partner in (row(range(20, 25), [5], [1], RAW_LENGTH, 2), empty_row(RAW_LENGTH, 2)):
        pairs = choose_pairs(tensors(example), tensors(partner), 1.0, seeds)
        assert not pairs.is_other.numpy().any()
        assert pairs.is_pair.numpy().tolist() == [True, False]
