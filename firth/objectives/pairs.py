"""Next sentence prediction: where each chunk is split, and which second segments are random ones.

google-research/bert tries ten times for another document and then takes what it has, so that small corpora
get "random" segments of the same document. Here a segment of another document is taken or none.
"""

from typing import NamedTuple

import tensorflow as tf

from firth import features


class Pairs(NamedTuple):
    """Both segments of each chunk, all tensors [max_documents].

    Sources index the row's raw tokens, with the partner's raw tokens behind them.

    Attributes:
        first_sources, first_lengths: int32, first token and number of tokens of segment A.
        second_sources, second_lengths: int32, the same of segment B.
        is_random: bool, True where B comes from another document.
        is_pair: bool, False for chunks too short to be split.
    """

    first_sources: tf.Tensor
    first_lengths: tf.Tensor
    second_sources: tf.Tensor
    second_lengths: tf.Tensor
    is_random: tf.Tensor
    is_pair: tf.Tensor


def single_segments(row) -> Pairs:
    """Returns each chunk as one segment, with nothing behind it."""
    lengths = row[features.CHUNK_LENGTHS]
    nothing, never = tf.zeros_like(lengths), tf.zeros_like(lengths, tf.bool)
    return Pairs(_chunk_starts(row), lengths, nothing, nothing, never, never)


def choose_pairs(row, partner, random_rate: float, seeds) -> Pairs:
    """Splits each chunk in two and replaces some second segments by random ones.

    A random second segment is the second part of a chunk of the partner row, of any document but the
    chunk's own, cut to the room that the true one had. Where the partner row has none, the pair stays true.

    Args:
        row, partner: Tensors as `features.row_specs`.
        random_rate: Chance of a random second segment.
        seeds: int32 or int64 [4, 2].
    """
    lengths = row[features.CHUNK_LENGTHS]
    splits, partner_splits = split_chunks(row, seeds[0]), split_chunks(partner, seeds[1])
    chosen, exists = _choose_partner_chunks(row, partner, seeds[2])
    is_pair = lengths >= 2
    wanted = tf.random.stateless_uniform(tf.shape(lengths), seeds[3], alg="philox") < random_rate
    is_random = is_pair & exists & wanted
    true_lengths = lengths - splits
    random_lengths = tf.gather(partner[features.CHUNK_LENGTHS] - partner_splits, chosen)
    random_sources = tf.gather(_chunk_starts(partner) + partner_splits, chosen)
    starts = _chunk_starts(row)
    return Pairs(
        first_sources=starts,
        first_lengths=splits,
        second_sources=tf.where(
            is_random, tf.size(row[features.RAW_TOKENS]) + random_sources, starts + splits
        ),
        second_lengths=tf.where(is_random, tf.minimum(random_lengths, true_lengths), true_lengths),
        is_random=is_random,
        is_pair=is_pair,
    )


def split_chunks(row, seed) -> tf.Tensor:
    """Returns the number of tokens of each chunk's first segment, int32 [max_documents].

    The second segment begins at a random sentence start within the chunk; without one at the word start
    nearest to the middle; without that in the middle. A chunk of one token is all first segment.

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
    offsets = tf.range(tf.size(row[features.WORD_STARTS]))[tf.newaxis] - _chunk_starts(row)[:, tf.newaxis]
    within = (offsets > 0) & (offsets < lengths[:, tf.newaxis])
    scores = tf.where(within, _split_scores(row, offsets, lengths, seed), -1.0)
    best = tf.argmax(scores, axis=1, output_type=tf.int32) - _chunk_starts(row)
    return tf.where(lengths >= 2, best, lengths)


def _split_scores(row, offsets, lengths, seed):
    """Returns float32 [max_documents, raw_length]: sentence starts in [2, 3), word starts in [1, 2)."""
    random = tf.random.stateless_uniform(tf.shape(row[features.SENTENCE_STARTS]), seed, alg="philox")
    from_middle = tf.abs(2 * offsets - lengths[:, tf.newaxis]) / tf.maximum(lengths, 1)[:, tf.newaxis]
    nearness = tf.cast(0.5 * (1.0 - from_middle), tf.float32)
    starts_word = tf.cast(row[features.WORD_STARTS] > 0, tf.float32)
    return tf.where(row[features.SENTENCE_STARTS] > 0, 2.0 + random, starts_word + nearness)


def _choose_partner_chunks(row, partner, seed):
    """Returns a random chunk of the partner for each chunk, int32, and whether there is one, bool."""
    foreign = row[features.DOCUMENT_KEYS][:, tf.newaxis] != partner[features.DOCUMENT_KEYS][tf.newaxis]
    eligible = foreign & (partner[features.CHUNK_LENGTHS] >= 2)[tf.newaxis]
    scores = tf.random.stateless_uniform(tf.shape(eligible), seed, alg="philox")
    chosen = tf.argmax(tf.where(eligible, scores, -1.0), axis=1, output_type=tf.int32)
    return chosen, tf.reduce_any(eligible, axis=1)


def _chunk_starts(row):
    return tf.cumsum(row[features.CHUNK_LENGTHS], exclusive=True)
