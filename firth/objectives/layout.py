"""Where each token of a row goes: chunks laid out one after another between their special tokens."""

from typing import NamedTuple

import tensorflow as tf

from firth import features
from firth.objectives.pairs import Pairs


class SpecialIds(NamedTuple):
    """Ids of the special tokens that a layout writes."""

    pad: int
    cls: int
    sep: int


class Layout(NamedTuple):
    """A laid out row, before anything of it is masked.

    Attributes:
        token_ids: int32 [length].
        segment_ids: int32 [length], 1 on the second segment and the `[SEP]` behind it.
        position_ids: int32 [length], counted from each chunk's `[CLS]`.
        document_ids: int32 [length], 0 on padding, i + 1 on chunk i.
        is_text: bool [length], True on what is neither padding nor a `[CLS]` or `[SEP]` put in here.
        word_starts: bool [length], True where a word of the text begins. A segment may begin without
            one, where a chunk could only be split amid a word.
        cls_positions: int32 [max_documents], zeros behind.
    """

    token_ids: tf.Tensor
    segment_ids: tf.Tensor
    position_ids: tf.Tensor
    document_ids: tf.Tensor
    is_text: tf.Tensor
    word_starts: tf.Tensor
    cls_positions: tf.Tensor


def lay_out(row, partner, pairs: Pairs, length: int, next_sentence: bool, ids: SpecialIds) -> Layout:
    """Lays the chunks of one row out as `[CLS] A [SEP] B [SEP]`, or `[CLS] A [SEP]` without B.

    Args:
        row: Tensors as `features.row_specs`.
        partner: The row that random second segments come from, in the same form.
        pairs: What `choose_pairs` (or `single_segments`) made of the two.
        length: Of the result. What does not fit is cut off, which rows that SequenceGen wrote never need.
        next_sentence: Write the second segment and its `[SEP]`.
        ids: Of the special tokens.
    """
    lengths = row[features.CHUNK_LENGTHS]
    specials = 3 if next_sentence else 2
    block_lengths = tf.where(lengths > 0, lengths + specials, 0)
    block_ends = tf.cumsum(block_lengths)
    places = tf.range(length)
    chunks = tf.searchsorted(block_ends, places, side="right")
    inside = chunks < tf.size(lengths)
    chunks = tf.where(inside, chunks, 0)
    block_starts = block_ends - block_lengths
    offsets = places - tf.gather(block_starts, chunks)
    sources = _sources(
        offsets, chunks, inside, pairs, _Markers(tf.size(row[features.RAW_TOKENS])), next_sentence
    )
    return _gather(row, partner, sources, offsets, chunks, pairs, ids)._replace(
        cls_positions=tf.where(lengths > 0, block_starts, 0)
    )


class _Markers:
    """Indices of padding and special tokens behind the tokens of row and partner in one gathered table."""

    def __init__(self, raw_length):
        self.pad, self.cls, self.sep = 2 * raw_length, 2 * raw_length + 1, 2 * raw_length + 2


def _sources(offsets, chunks, inside, pairs, markers, next_sentence):
    """Returns int32 [length]: the index, in the gathered table, of the token at each place."""
    first = tf.gather(pairs.first_lengths, chunks)
    from_first = tf.gather(pairs.first_sources, chunks) + offsets - 1
    behind = offsets - first - 2  # Place within the second segment, which begins behind [CLS] A [SEP].
    sources = tf.fill(tf.shape(offsets), markers.pad)
    if next_sentence:
        second = tf.gather(pairs.second_lengths, chunks)
        from_second = tf.gather(pairs.second_sources, chunks) + behind
        sources = tf.where(behind == second, markers.sep, sources)
        sources = tf.where((behind >= 0) & (behind < second), from_second, sources)
    sources = tf.where(behind == -1, markers.sep, sources)
    sources = tf.where(behind < -1, from_first, sources)
    sources = tf.where(offsets == 0, markers.cls, sources)
    return tf.where(inside, sources, markers.pad)


def _gather(row, partner, sources, offsets, chunks, pairs, ids):
    markers = _Markers(tf.size(row[features.RAW_TOKENS]))
    specials = tf.constant(list(ids), tf.int32)
    tokens = tf.concat([row[features.RAW_TOKENS], partner[features.RAW_TOKENS], specials], 0)
    starts = tf.concat([row[features.WORD_STARTS], partner[features.WORD_STARTS], tf.ones_like(specials)], 0)
    is_text = sources < markers.pad
    used = sources != markers.pad
    first = tf.gather(pairs.first_lengths, chunks)
    return Layout(
        token_ids=tf.gather(tokens, sources),
        segment_ids=tf.cast(used & (offsets > first + 1), tf.int32),
        position_ids=tf.where(used, offsets, 0),
        document_ids=tf.where(used, chunks + 1, 0),
        is_text=is_text,
        word_starts=is_text & (tf.gather(starts, sources) > 0),
        cls_positions=offsets,
    )
