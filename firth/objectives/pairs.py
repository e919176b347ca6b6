"""The segments of each chunk: where it is split, and which of the two come from elsewhere or are swapped.

For next sentence prediction google-research/bert tries ten times for another document and then takes what it
has, so that small corpora get "random" segments of the same document. Here a segment of another document is
taken or none. For sentence order google-research/albert falls back to random segments where a document is too
short to be split. Here such a document has no pair.
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
        rooms: int32, tokens that both may take; a shorter random segment leaves padding within the row.
        is_other: bool, True where B is a random one, or where the two are swapped.
        is_pair: bool, False for chunks too short to be split.
    """

    first_sources: tf.Tensor
    first_lengths: tf.Tensor
    second_sources: tf.Tensor
    second_lengths: tf.Tensor
    rooms: tf.Tensor
    is_other: tf.Tensor
    is_pair: tf.Tensor


def single_segments(row) -> Pairs:
    """Returns each chunk as one segment, with nothing behind it."""
    lengths = row[features.CHUNK_LENGTHS]
    nothing, never = tf.zeros_like(lengths), tf.zeros_like(lengths, tf.bool)
    return Pairs(chunk_starts(row), lengths, nothing, nothing, lengths, never, never)


def true_pairs(row, seed) -> Pairs:
    """Splits each chunk in two consecutive segments; see `split_chunks`.

    Args:
        row: Tensors as `features.row_specs`.
        seed: int32 or int64 [2].
    """
    lengths, starts, splits = row[features.CHUNK_LENGTHS], chunk_starts(row), split_chunks(row, seed)
    return Pairs(
        first_sources=starts,
        first_lengths=splits,
        second_sources=starts + splits,
        second_lengths=lengths - splits,
        rooms=lengths,
        is_other=tf.zeros_like(lengths, tf.bool),
        is_pair=lengths >= 2,
    )


def choose_order(row, swap_rate: float, seeds) -> Pairs:
    """Splits each chunk in two consecutive segments and swaps some (Lan et al. 2019, section 3.1).

    Args:
        row: Tensors as `features.row_specs`.
        swap_rate: Chance of the wrong order.
        seeds: int32 or int64 [2, 2].

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
    pairs = true_pairs(row, seeds[0])
    wanted = tf.random.stateless_uniform(tf.shape(pairs.rooms), seeds[1], alg="philox") < swap_rate
    swapped = pairs.is_pair & wanted
    return pairs._replace(
        first_sources=tf.where(swapped, pairs.second_sources, pairs.first_sources),
        first_lengths=tf.where(swapped, pairs.second_lengths, pairs.first_lengths),
        second_sources=tf.where(swapped, pairs.first_sources, pairs.second_sources),
        second_lengths=tf.where(swapped, pairs.first_lengths, pairs.second_lengths),
        is_other=swapped,
    )


def choose_pairs(row, partner, random_rate: float, seeds) -> Pairs:
    """Splits each chunk in two and replaces some second segments by random ones.

    A random second segment is the second part of a chunk of the partner row, of any document but the
    chunk's own, cut to the room that the true one had. Where the partner row has none, the pair stays true.

    Args:
        row, partner: Tensors as `features.row_specs`.
        random_rate: Chance of a random second segment.
        seeds: int32 or int64 [4, 2].
    """
    true, lengths = true_pairs(row, seeds[0]), row[features.CHUNK_LENGTHS]
    partner_splits = split_chunks(partner, seeds[1])
    chosen, exists = _choose_partner_chunks(row, partner, seeds[2])
    wanted = tf.random.stateless_uniform(tf.shape(lengths), seeds[3], alg="philox") < random_rate
    is_random = true.is_pair & exists & wanted
    lengths_left = tf.gather(partner[features.CHUNK_LENGTHS] - partner_splits, chosen)
    sources = tf.gather(chunk_starts(partner) + partner_splits, chosen) + tf.size(row[features.RAW_TOKENS])
    return true._replace(
        second_sources=tf.where(is_random, sources, true.second_sources),
        second_lengths=tf.where(
            is_random, tf.minimum(lengths_left, true.second_lengths), true.second_lengths
        ),
        is_other=is_random,
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
    offsets = tf.range(tf.size(row[features.WORD_STARTS]))[tf.newaxis] - chunk_starts(row)[:, tf.newaxis]
    within = (offsets > 0) & (offsets < lengths[:, tf.newaxis])
    scores = tf.where(within, _split_scores(row, offsets, lengths, seed), -1.0)
    best = tf.argmax(scores, axis=1, output_type=tf.int32) - chunk_starts(row)
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


def chunk_starts(row) -> tf.Tensor:
    """Returns where each chunk begins among the raw tokens, int32 [max_documents]."""
    return tf.cumsum(row[features.CHUNK_LENGTHS], exclusive=True)
