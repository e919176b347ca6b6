"""The documents of a row, and sequences of one part for each of them, one after another."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from firth import features


class Text(NamedTuple):
    """The raw tokens of a row.

    Attributes:
        tokens: int32 [raw_length].
        documents: int32 [raw_length], which document each token is of, from 0; `max_documents` on padding.
        offsets: int32 [raw_length], its place in the document.
        lengths: int32 [max_documents], zeros after.
        ordinary: bool [raw_length], False on padding and on special pieces, such as `[UNK]` or a `[MASK]`
            that somebody typed: they are never corrupted.
    """

    tokens: tf.Tensor
    documents: tf.Tensor
    offsets: tf.Tensor
    lengths: tf.Tensor
    ordinary: tf.Tensor

    @property
    def is_token(self) -> tf.Tensor:
        """Bool [raw_length], False on padding."""
        return self.documents < tf.size(self.lengths)


class Parts(NamedTuple):
    """A sequence with a part for each document, padding after.

    Attributes:
        ids: int32 [length].
        lengths: int32 [max_documents], of the parts.
    """

    ids: tf.Tensor
    lengths: tf.Tensor


def ordinary_table(tokenizer) -> np.ndarray:
    """Returns which ids are no special pieces: bool [vocabulary]."""
    table = np.ones(tokenizer.vocabulary_size(), bool)
    table[list(tokenizer.special_ids)] = False
    return table


def read_text(row, ordinary: np.ndarray) -> Text:
    """Returns the tokens of a row (tensors as `features.row_specs`) with the documents that they are of.

    Args:
        row: Tensors as `features.row_specs`.
        ordinary: As `ordinary_table`.
    """
    tokens, lengths = row[features.RAW_TOKENS], row[features.CHUNK_LENGTHS]
    documents, offsets = find_parts(lengths, tf.size(tokens))
    return Text(
        tokens,
        documents,
        offsets,
        lengths,
        tf.gather(tf.constant(ordinary), tokens) & (documents < tf.size(lengths)),
    )


def find_parts(lengths, size) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns which part each place of a sequence belongs to, and its place within the part.

    Args:
        lengths: int32 [parts].
        size: Of the sequence.

    Returns:
        int32 [size] each; after the parts their number, and zeros.

    Example:

    >>> [each.numpy().tolist() for each in find_parts([3, 1, 0], 5)]
    [[0, 0, 0, 1, 3], [0, 1, 2, 0, 0]]
    """
    lengths = tf.convert_to_tensor(lengths)
    ends, places = tf.cumsum(lengths), tf.range(size)
    parts = tf.searchsorted(ends, places, side="right")
    inside = parts < tf.size(lengths)
    parts_inside = tf.where(inside, parts, 0)
    offsets = places - tf.gather(ends - lengths, parts_inside)
    return tf.where(inside, parts, tf.size(lengths)), tf.where(inside, offsets, 0)


def count_by_document(flags, text: Text) -> tf.Tensor:
    """Returns how many flags of each document are set: bool [raw_length] to int32 [max_documents]."""
    count = tf.size(text.lengths)
    return tf.math.unsorted_segment_sum(tf.cast(flags, tf.int32), text.documents, count + 1)[:count]


def within_document(counted, text: Text) -> tf.Tensor:
    """Returns how many flags of its own document are set before each token.

    Args:
        counted: bool [raw_length].
        text: Of which documents.

    Returns:
        int32 [raw_length].
    """
    before = tf.cumsum(tf.cast(counted, tf.int32), exclusive=True)
    starts = tf.cumsum(text.lengths, exclusive=True)
    firsts = tf.gather(tf.concat([starts, [0]], 0), text.documents)
    return before - tf.gather(before, tf.minimum(firsts, tf.size(before) - 1))


def write_parts(size: int, lengths, pieces, fill: int = 0) -> Parts:
    """Returns the sequence that holds ids at given places; what does not fit is cut off.

    Args:
        size: Of the sequence.
        lengths: int32 [parts].
        pieces: Triples of bool [n], whether to write, int32 [n], where, and int32 [n], what.
        fill: What stands where nothing is written.

    Example:

    >>> write_parts(4, [2], [([True, False], [1, 0], [7, 8])]).ids.numpy().tolist()
    [0, 7, 0, 0]
    """
    flags, places, ids = (tf.concat(each, 0) for each in zip(*pieces))
    # One place more takes what is not written, and what does not fit.
    places = tf.where(flags, tf.minimum(places, size), size)
    written = tf.tensor_scatter_nd_update(tf.fill([size + 1], fill), places[:, tf.newaxis], ids)
    return Parts(written[:size], lengths)
