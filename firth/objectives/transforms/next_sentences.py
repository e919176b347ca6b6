"""Second segments of other documents, for next sentence prediction (Devlin et al. 2018, section 3.1).

google-research/bert draws the label first, fills a random segment up to the target length, and cuts what is
too long. There a document that ends early is shorter where its pair is true, so that its length tells the
label. Here a chunk and a chunk of the negative row are split alike before the label is drawn: both offer the
rest after a split, and the longer rest is cut to the shorter one. The label says which of the two is taken,
so that second segments of both labels have the same lengths, as many sentences, and the same ends. Some more
tokens are cut off both: otherwise a full row would say that its own rest is the shorter one, and whole.

The reference tries ten times for another document and then takes what it has, so that small corpora get
"random" segments of the same document. Here the segment is one of another document, or the pair has no label.
"""

from typing import NamedTuple

import tensorflow as tf

from firth import features
from firth.objectives.transforms.documents import Row, find_parts
from firth.objectives.transforms.pairs import Pairs, is_sentence, true_pairs

# The cost of an impossible split, and the most tokens that are cut off, also as a share of both rests.
_NEVER = 1e9
_MOST_CUT, _CUT_SHARE = 8, 8


class _Places(NamedTuple):
    """The places of a row, all tensors [raw_length].

    Attributes:
        chunks: int32, number of the chunk of each place, `max_documents` on padding.
        left: int32, tokens from each place to the end of its chunk.
        at_sentence: bool, True where a sentence begins that is not the first of its chunk.
        at_word: bool, True where a word begins within the last sentence of a chunk.
    """

    chunks: tf.Tensor
    left: tf.Tensor
    at_sentence: tf.Tensor
    at_word: tf.Tensor


class _Splits(NamedTuple):
    """The splits of two chunks, tensors [max_documents].

    Attributes:
        own: int32, place of the row where the rest of the chunk begins.
        other: int32, place of the negative row where the rest of the other chunk begins.
        length: int32, tokens that both rests have.
        exists: bool, False for a chunk that has no other chunk, or no place to be split at.
    """

    own: tf.Tensor
    other: tf.Tensor
    length: tf.Tensor
    exists: tf.Tensor


def choose_pairs(row: Row, negative: Row, random_rate: float, seeds: tf.Tensor) -> Pairs:
    """Splits each chunk in two and replaces some second segments by random ones.

    Each chunk has one chunk of the negative row, at random. Both are split before a sentence, at places whose
    rests are as nearly of one length as can be, and both rests are cut to the shorter one without its last
    tokens, one to eight. A random second segment is the rest of the other chunk. Where one of the two has a
    single sentence, both are split within their last sentences, at a word.

    A pair has no label where the other chunk is of the same document, or one of the two cannot be split; and
    where the negative row has fewer chunks, so that each chunk of any row is as often the other one as it has
    another one. Text that is replaced by a random segment is not in the row; it is in the epochs that draw
    the other label.

    Args:
        seeds: Seeds, int32 or int64 [4, 2].

    Example: (3 4 5 6) is split before the sentence at 5, as is the chunk of the other document, without 6.

    >>> row = {
    ...     "tokens": tf.constant([3, 4, 5, 6]),
    ...     "word_starts": tf.constant([1, 1, 1, 1]),
    ...     "sentence_starts": tf.constant([1, 0, 1, 0]),
    ...     "chunk_lengths": tf.constant([4]),
    ...     "document_keys": tf.constant([1]),
    ... }
    >>> negative = {**row, "document_keys": tf.constant([2])}
    >>> pairs = choose_pairs(row, negative, random_rate=1.0, seeds=tf.reshape(tf.range(8), (4, 2)))
    >>> pairs.second_sources.numpy(), pairs.second_lengths.numpy(), pairs.is_other.numpy()
    (array([6], dtype=int32), array([1], dtype=int32), array([ True]))
    """
    true = true_pairs(row, seeds[0])
    splits = _splits(row, negative, _other_chunks(row, negative, seeds[1]), seeds[2])
    first_lengths = splits.own - true.first_sources
    wanted = tf.random.stateless_uniform(tf.shape(first_lengths), seeds[3], alg="philox") < random_rate
    is_random = splits.exists & wanted
    in_negative = splits.other + tf.size(row[features.RAW_TOKENS])
    return true._replace(
        first_lengths=tf.where(splits.exists, first_lengths, true.first_lengths),
        second_sources=tf.where(
            splits.exists, tf.where(is_random, in_negative, splits.own), true.second_sources
        ),
        second_lengths=tf.where(splits.exists, splits.length, true.second_lengths),
        is_other=is_random,
        is_pair=splits.exists,
    )


def _other_chunks(row: Row, negative: Row, seed: tf.Tensor) -> tf.Tensor:
    """Returns the number of the negative row's chunk for each chunk, -1 for none: int32 [max_documents].

    A chunk of the negative row is that of one chunk at most, and two chunks are as likely to meet
    if the row and the negative row are exchanged.
    """
    numbers = tf.range(tf.size(row[features.CHUNK_LENGTHS]))
    own, others = (
        tf.math.count_nonzero(each[features.CHUNK_LENGTHS], dtype=tf.int32) for each in (row, negative)
    )
    most = tf.maximum(tf.maximum(own, others), 1)
    offset = tf.random.stateless_uniform([], seed, 0, most, tf.int32, alg="philox")
    chosen = (numbers + offset) % most
    keys = tf.gather(negative[features.DOCUMENT_KEYS], tf.minimum(chosen, tf.size(numbers) - 1))
    exists = (numbers < own) & (chosen < others) & (keys != row[features.DOCUMENT_KEYS])
    return tf.where(exists, chosen, -1)


def _splits(row: Row, negative: Row, others: tf.Tensor, seed: tf.Tensor) -> _Splits:
    """Returns the places where each chunk and its other chunk are split."""
    own, other, count = _places(row), _places(negative), tf.size(others)
    # The chunk of the row that each chunk of the negative row is for.
    of_others = tf.scatter_nd(
        tf.where(others >= 0, others, count)[:, tf.newaxis], tf.range(1, count + 1), [count + 1]
    )[:-1]
    by_sentence = _has(own, count) & (others >= 0) & tf.gather(_has(other, count), tf.maximum(others, 0))
    own_places = _candidates(own, by_sentence)
    other_chunks = tf.gather(tf.concat([of_others, [0]], 0) - 1, other.chunks)
    other_places = _candidates(other._replace(chunks=other_chunks), by_sentence)
    draws = tf.random.stateless_uniform([3, tf.size(own.left)], seed, alg="philox")
    left, others_left = tf.gather(own.left, own_places), tf.gather(other.left, other_places)
    apart = tf.cast(tf.abs(left[:, tf.newaxis] - others_left), tf.float32)
    # A random one of the splits whose rests are equally near in length is taken.
    apart += tf.gather(draws[0], own_places)[:, tf.newaxis] + tf.gather(draws[1], other_places)
    of_own = tf.gather(own.chunks, own_places)
    apart = tf.where(of_own[:, tf.newaxis] == tf.gather(other_chunks, other_places), apart, _NEVER)
    # There may be no candidate at all.
    apart = tf.pad(apart, [[0, 1], [0, 1]], constant_values=_NEVER)
    nearest, least = tf.argmin(apart, axis=1, output_type=tf.int32), tf.reduce_min(apart, axis=1)
    is_own = tf.range(count)[:, tf.newaxis] == tf.concat([of_own, [-1]], 0)
    costs = tf.where(is_own, least, _NEVER)
    best = tf.argmin(costs, axis=1, output_type=tf.int32)
    chosen = tf.gather(tf.concat([own_places, [0]], 0), best)
    chosen_other = tf.gather(tf.concat([other_places, [0]], 0), tf.gather(nearest, best))
    rest = tf.minimum(tf.gather(own.left, chosen), tf.gather(other.left, chosen_other))
    most = tf.clip_by_value(rest // _CUT_SHARE, 1, _MOST_CUT)
    cut = 1 + tf.cast(tf.gather(draws[2], chosen) * tf.cast(most, tf.float32), tf.int32)
    # A rest of one token stays.
    length = tf.maximum(rest - tf.minimum(cut, most), tf.minimum(rest, 1))
    return _Splits(chosen, chosen_other, length, tf.reduce_min(costs, axis=1) < _NEVER)


def _places(row: Row) -> _Places:
    lengths = row[features.CHUNK_LENGTHS]
    chunks, offsets = find_parts(lengths, tf.size(row[features.RAW_TOKENS]))
    left = tf.gather(tf.concat([lengths, [0]], 0), chunks) - offsets
    at_sentence = is_sentence(row) & (offsets > 0) & (left > 0)
    starts = tf.where(at_sentence, offsets, 0)
    last = tf.maximum(tf.math.unsorted_segment_max(starts, chunks, tf.size(lengths) + 1), 0)
    at_word = (row[features.WORD_STARTS] > 0) & (offsets > tf.gather(last, chunks)) & (left > 0)
    return _Places(chunks, left, at_sentence, at_word)


def _has(places: _Places, count: tf.Tensor) -> tf.Tensor:
    """Returns bool [max_documents], True for chunks with a second sentence."""
    found = tf.cast(places.at_sentence, tf.int32)
    return tf.math.unsorted_segment_max(found, places.chunks, count + 1)[:-1] > 0


def _candidates(places: _Places, by_sentence: tf.Tensor) -> tf.Tensor:
    """Returns the places where a chunk may be split, int32 [candidates].

    Args:
        by_sentence: bool [max_documents], True for chunks that are split before a sentence.
    """
    count = tf.size(by_sentence)
    kinds = tf.gather(by_sentence, tf.clip_by_value(places.chunks, 0, count - 1))
    possible = tf.where(kinds, places.at_sentence, places.at_word)
    is_chunk = (places.chunks >= 0) & (places.chunks < count)
    return tf.cast(tf.where(possible & is_chunk)[:, 0], tf.int32)
