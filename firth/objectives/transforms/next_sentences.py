"""Second segments of other documents, for next sentence prediction (Devlin et al. 2018, section 3.1).

google-research/bert draws the label first, fills a random segment up to the target length, and cuts what is
too long. There a document that ends early is shorter where its pair is true, so that its length tells the
label. Here the lengths of both segments are chosen before the label is drawn, and are the same for either.

The reference tries ten times for another document and then takes what it has, so that small corpora get
"random" segments of the same document. Here the segment is one of another document, or the pair has no label.
"""

from typing import NamedTuple

import tensorflow as tf

from firth import features
from firth.objectives.transforms.documents import Row, find_parts
from firth.objectives.transforms.pairs import Pairs, is_sentence, true_pairs

_MARKS = (features.SENTENCE_STARTS, features.WORD_STARTS)


class _Places(NamedTuple):
    """The places of the negative row, for each chunk of the row.

    Attributes:
        allowed: bool [max_documents, raw_length], where a random segment may begin: in a chunk of another
            document, after its first token.
        left: int32 [raw_length], tokens from each place to the end of its chunk.
        is_end: bool [raw_length + 1], True where a sentence has just ended.
    """

    allowed: tf.Tensor
    left: tf.Tensor
    is_end: tf.Tensor


def choose_pairs(row: Row, negative: Row, random_rate: float, seeds: tf.Tensor) -> Pairs:
    """Splits each chunk in two and replaces some second segments by random ones.

    The chunk is split before a sentence (see `split_chunks`), one whose rest is not longer than the segments
    that the negative row offers. A random segment begins before a sentence of another document and has as
    many tokens as the true one, so both labels have the same lengths. If a run of whole sentences has this
    length, it is taken. If none has, the second segment is cut within its last sentence, whichever label it
    gets: otherwise a segment that ends within a sentence would always be a random one.

    A chunk of a single sentence is split within it, at a word. A random segment then begins within a sentence
    too, at a word if the true one does, and both end with a sentence.

    A pair has a label only if the negative row has a segment for it, whether it is taken or not. Text that is
    replaced by a random segment is not in the row; it is in the epochs that draw the other label.

    Args:
        row: Tensors of one row, as `features.row_specs`.
        negative: Tensors of the row that random segments come from.
        random_rate: Probability of a random second segment.
        seeds: Seeds, int32 or int64 [4, 2].

    Example: (3 4 5 6) is split before the sentence at 5, and two tokens are a sentence of the other document.

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
    (array([6], dtype=int32), array([2], dtype=int32), array([ True]))
    """
    places = _foreign_places(row, negative)
    at_sentences = places.allowed & is_sentence(negative)
    true = true_pairs(row, seeds[0], tf.reduce_max(tf.where(at_sentences, places.left, 0), axis=1))
    alike = places._replace(allowed=places.allowed & _begins_alike(row, negative, true.second_sources))
    sources, exists, is_whole = _choose_sources(alike, true.second_lengths, row, seeds[1])
    exists &= true.is_pair
    cut = tf.where(exists & ~is_whole, _cut_tokens(row, seeds[2]), 0)
    wanted = tf.random.stateless_uniform(tf.shape(cut), seeds[3], alg="philox") < random_rate
    is_random = exists & wanted
    return true._replace(
        second_sources=tf.where(is_random, sources + tf.size(row[features.RAW_TOKENS]), true.second_sources),
        second_lengths=true.second_lengths - cut,
        is_other=is_random,
        is_pair=exists,
    )


def _foreign_places(row: Row, negative: Row) -> _Places:
    lengths = negative[features.CHUNK_LENGTHS]
    chunks, offsets = find_parts(lengths, tf.size(negative[features.RAW_TOKENS]))
    left = tf.gather(tf.concat([lengths, [0]], 0), chunks) - offsets
    is_foreign = row[features.DOCUMENT_KEYS][:, tf.newaxis] != negative[features.DOCUMENT_KEYS][tf.newaxis]
    of_others = tf.gather(tf.pad(is_foreign, [[0, 0], [0, 1]]), chunks, axis=1)
    # After the last token of a chunk stands the first one of the next chunk, or padding.
    is_end = tf.concat([is_sentence(negative) | (offsets == 0), [True]], 0)
    return _Places(of_others & (offsets > 0), left, is_end)


def _begins_alike(row: Row, negative: Row, places: tf.Tensor) -> tf.Tensor:
    """Returns bool [max_documents, raw_length]: a sentence where the true segment begins with one, or else a
    word where it begins with one, and within a sentence.
    """
    places = tf.minimum(places, tf.size(row[features.RAW_TOKENS]) - 1)
    sentences, words = (tf.gather(row[name], places)[:, tf.newaxis] > 0 for name in _MARKS)
    others = tuple(negative[name][tf.newaxis] > 0 for name in _MARKS)
    return tf.where(sentences, others[0], ~others[0] & (others[1] == words))


def _choose_sources(
    places: _Places, lengths: tf.Tensor, row: Row, seed: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns where random segments of given lengths begin, whether one does, and whether a sentence ends it.

    Returns:
        int32 [max_documents], bool [max_documents], bool [max_documents].
    """
    size = tf.size(places.left)
    fits = places.allowed & (places.left >= lengths[:, tf.newaxis])
    ends = tf.minimum(tf.range(size) + lengths[:, tf.newaxis], size)
    whole = fits & tf.gather(places.is_end, ends)
    is_whole = tf.reduce_any(whole, axis=1)
    # A segment that begins within a sentence always has one that fits whole, or is empty.
    has_sentences = _last_sentences(row) > 0
    possible = tf.where(is_whole[:, tf.newaxis], whole, fits & has_sentences[:, tf.newaxis])
    draws = tf.random.stateless_uniform(tf.shape(possible), seed, alg="philox")
    chosen = tf.argmax(tf.where(possible, draws, -1.0), axis=1, output_type=tf.int32)
    return chosen, tf.reduce_any(possible, axis=1), is_whole


def _cut_tokens(row: Row, seed: tf.Tensor) -> tf.Tensor:
    """Returns how many tokens to leave out of the last sentence of each chunk: int32 [max_documents]."""
    lasts = tf.maximum(row[features.CHUNK_LENGTHS] - _last_sentences(row), 1)
    draws = tf.random.stateless_uniform(tf.shape(lasts), seed, alg="philox")
    return tf.minimum(tf.cast(draws * tf.cast(lasts, tf.float32), tf.int32), lasts - 1)


def _last_sentences(row: Row) -> tf.Tensor:
    """Returns where the last sentence within each chunk begins, 0 without one: int32 [max_documents]."""
    lengths = row[features.CHUNK_LENGTHS]
    chunks, offsets = find_parts(lengths, tf.size(row[features.RAW_TOKENS]))
    starts = tf.where(is_sentence(row), offsets, 0)
    found = tf.math.unsorted_segment_max(starts, chunks, tf.size(lengths) + 1)[:-1]
    return tf.maximum(found, 0)
