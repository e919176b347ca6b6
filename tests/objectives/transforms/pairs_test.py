import numpy as np
import tensorflow as tf

from firth.objectives.transforms.pairs import split_chunks
from tests.objectives.rows import row

RAW_LENGTH = 20


def splits(example, seeds=400):
    example = tensors(example)
    draws = tf.stack([tf.zeros(seeds, tf.int32), tf.range(seeds)], axis=1)
    return tf.function(
        lambda: tf.map_fn(lambda seed: split_chunks(example, seed), draws), autograph=False
    )().numpy()


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
    """The second chunk's first token begins a sentence, and splits neither chunk."""
    example = row(range(5, 13), [4, 4], [1, 2], RAW_LENGTH, 3, sentence_starts=marked(8, {0, 4}))
    assert np.unique(splits(example, 20), axis=0).tolist() == [[2, 2, 0]]


def test_without_sentences_the_word_start_nearest_to_the_middle():
    example = row(range(5, 15), [10], [1], RAW_LENGTH, 1, word_starts=marked(10, {0, 2, 4, 9}))
    assert np.unique(splits(example, 20)).tolist() == [4]


def test_one_long_word_is_split_in_the_middle():
    example = row(range(5, 11), [6], [1], RAW_LENGTH, 1, word_starts=marked(6, {0}))
    assert np.unique(splits(example, 20)).tolist() == [3]


def test_without_sentences_or_words_both_middles_of_an_odd_chunk_are_as_likely():
    """The first of them alone would make A the shorter one of a true pair, the longer one of a swapped."""
    example = row(range(5, 10), [5], [1], RAW_LENGTH, 1, word_starts=[1] * 5)
    assert abs((splits(example)[:, 0] == 2).mean() - 0.5) < 4 * 0.5 / np.sqrt(400)
