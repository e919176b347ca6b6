"""The two segments of each chunk: where it is split, and for sentence order, which are swapped.

For sentence order google-research/albert falls back to random segments where a document is too short to be
split. Here such a document has no pair.
"""

from typing import NamedTuple

import tensorflow as tf

from firth import features
from firth.objectives.transforms.documents import Row


class Pairs(NamedTuple):
    """Both segments of each chunk, all tensors [max_documents].

    Sources index the row's raw tokens, and after them those of the negative row.

    Attributes:
        first_sources: First token of segment A, int32.
        first_lengths: Number of tokens of segment A, int32.
        second_sources: First token of segment B, int32.
        second_lengths: Number of tokens of segment B, int32.
        is_other: bool, True if B is a random one, or if the two are swapped.
        is_pair: bool, False if the pair has no label: the chunk is too short to be split, or there is no
            random segment to choose.
    """

    first_sources: tf.Tensor
    first_lengths: tf.Tensor
    second_sources: tf.Tensor
    second_lengths: tf.Tensor
    is_other: tf.Tensor
    is_pair: tf.Tensor

    @property
    def lengths(self) -> tf.Tensor:
        """Tokens of both segments: int32 [max_documents]."""
        return self.first_lengths + self.second_lengths


def single_segments(row: Row) -> Pairs:
    """Returns each chunk as one segment, with nothing after it."""
    lengths = row[features.CHUNK_LENGTHS]
    nothing, never = tf.zeros_like(lengths), tf.zeros_like(lengths, tf.bool)
    return Pairs(chunk_starts(row), lengths, nothing, nothing, never, never)


def true_pairs(row: Row, seed: tf.Tensor, by_place: bool = False) -> Pairs:
    """Splits each chunk in two consecutive segments.

    Args:
        seed: Seed, int32 or int64 [2].
    """
    lengths, starts = row[features.CHUNK_LENGTHS], chunk_starts(row)
    splits = split_chunks(row, seed, by_place)
    return Pairs(
        first_sources=starts,
        first_lengths=splits,
        second_sources=starts + splits,
        second_lengths=lengths - splits,
        is_other=tf.zeros_like(lengths, tf.bool),
        is_pair=lengths >= 2,
    )


def choose_order(row: Row, swap_rate: float, seeds: tf.Tensor) -> Pairs:
    """Splits each chunk in two consecutive segments and swaps some (Lan et al. 2019, section 3.1).

    A sentence that does not fit into a chunk begins the next one, so long sentences are more frequent at the
    start of chunks. If all sentence starts were as likely, the first segment would be the longer one too
    often, and its length would tell the order. Therefore the split is the sentence start nearest to a random
    place.

    Args:
        seeds: Seeds, int32 or int64 [2, 2].

    Example: of a chunk of five tokens the segments of three and two are swapped.

    >>> row = {
    ...     "chunk_lengths": tf.constant([5, 1]),
    ...     "word_starts": tf.constant([1, 1, 1, 1, 1, 1]),
    ...     "sentence_starts": tf.constant([1, 0, 0, 1, 0, 1]),
    ... }
    >>> pairs = choose_order(row, swap_rate=1.0, seeds=[[0, 1], [0, 2]])
    >>> int(pairs.first_sources[0]), int(pairs.first_lengths[0])
    (3, 2)
    >>> pairs.is_other.numpy().tolist()
    [True, False]
    """
    pairs = true_pairs(row, seeds[0], by_place=True)
    wanted = tf.random.stateless_uniform(tf.shape(pairs.is_pair), seeds[1], alg="philox") < swap_rate
    swapped = pairs.is_pair & wanted
    return pairs._replace(
        first_sources=tf.where(swapped, pairs.second_sources, pairs.first_sources),
        first_lengths=tf.where(swapped, pairs.second_lengths, pairs.first_lengths),
        second_sources=tf.where(swapped, pairs.first_sources, pairs.second_sources),
        second_lengths=tf.where(swapped, pairs.first_lengths, pairs.second_lengths),
        is_other=swapped,
    )


def split_chunks(row: Row, seed: tf.Tensor, by_place: bool = False) -> tf.Tensor:
    """Returns the number of tokens of each chunk's first segment, int32 [max_documents].

    The second segment begins at a random sentence start within the chunk; without one, at the word start
    nearest to the middle; without a word start, in the middle. A chunk of one token has only a first segment.

    Args:
        seed: Seed, int32 or int64 [2].

    Example:

    >>> row = {
    ...     "chunk_lengths": tf.constant([5, 3, 1, 0]),
    ...     "word_starts": tf.constant([1, 1, 1, 1, 1, 1, 0, 1, 1, 0]),
    ...     "sentence_starts": tf.constant([1, 0, 0, 1, 0, 1, 0, 0, 1, 0]),
    ... }
    >>> split_chunks(row, seed=[1, 2]).numpy().tolist()
    [3, 2, 1, 0]
    """
    lengths = row[features.CHUNK_LENGTHS]
    offsets = tf.range(tf.size(row[features.WORD_STARTS]))[tf.newaxis] - chunk_starts(row)[:, tf.newaxis]
    within = (offsets > 0) & (offsets < lengths[:, tf.newaxis])
    scores = _split_scores(row, offsets, lengths, seed, by_place)
    scores = tf.where(within, scores, -1.0)
    best = tf.argmax(scores, axis=1, output_type=tf.int32) - chunk_starts(row)
    return tf.where(lengths >= 2, best, lengths)


def _split_scores(
    row: Row, offsets: tf.Tensor, lengths: tf.Tensor, seed: tf.Tensor, by_place: bool
) -> tf.Tensor:
    """Returns float32 [max_documents, raw_length]: sentence starts in [2, 3), word starts in [1, 2)."""
    tokens, chunks = tf.size(row[features.SENTENCE_STARTS]), tf.size(lengths)
    random = tf.random.stateless_uniform([tokens + chunks], seed, alg="philox")
    random, places = random[:tokens], random[tokens:, tf.newaxis]
    whole = tf.cast(tf.maximum(lengths, 1)[:, tf.newaxis], tf.float32)
    shares = tf.cast(offsets, tf.float32) / whole
    # Ties of places around the middle are broken at random: always taking the first would reveal the order.
    nearness = 0.5 * (1.0 - tf.abs(2.0 * shares - 1.0)) + 1e-4 * random
    starts_word = tf.cast(row[features.WORD_STARTS] > 0, tf.float32)
    of_sentences = 1.0 - tf.abs(shares - places) if by_place else random
    return tf.where(is_sentence(row), 2.0 + of_sentences, starts_word + nearness)


def is_sentence(row: Row) -> tf.Tensor:
    """Returns the places where sentences begin, bool [raw_length]."""
    return row[features.SENTENCE_STARTS] > 0


def chunk_starts(row: Row) -> tf.Tensor:
    """Returns the first raw token of each chunk, int32 [max_documents]."""
    return tf.cumsum(row[features.CHUNK_LENGTHS], exclusive=True)
