"""Raw strings to the features that an encoder reads, inside the graph."""

from typing import NamedTuple

import tensorflow as tf

from firth import features as names

# [CLS] before the text and [SEP] behind it.
ADDED_PIECES = 2


class Encoded(NamedTuple):
    """A batch of texts as the encoder reads them.

    Attributes:
        features: The tensors of `features.encoder_specs`, int32 [batch, longest]: `[CLS] text [SEP]`, padded
            to the longest of the batch.
        pieces: Ids of the text's own pieces, ragged int32 [batch, None].
        truncated: bool [batch], whether the text was longer than the row and was cut.
    """

    features: dict[str, tf.Tensor]
    pieces: tf.RaggedTensor
    truncated: tf.Tensor


def encode(text: tf.Tensor, tokenizer, length: int) -> Encoded:
    """Encodes texts as one segment each.

    Args:
        text: string [batch]; any bytes.
        tokenizer: With `tokenize`, `cls_id`, `sep_id` and `pad_id`.
        length: Most pieces of a row, [CLS] and [SEP] included.
    """
    whole = tokenizer.tokenize(text)
    pieces = whole[:, : length - ADDED_PIECES]
    edge = tf.ones([tf.shape(text)[0], 1], tf.int32)
    rows = tf.concat([edge * tokenizer.cls_id, pieces, edge * tokenizer.sep_id], axis=1)
    lengths = tf.cast(rows.row_lengths(), tf.int32)
    # The maximum over an empty batch is the smallest integer.
    longest = tf.maximum(tf.reduce_max(lengths), ADDED_PIECES)
    real = tf.sequence_mask(lengths, longest, tf.int32)
    features = {
        names.TOKEN_IDS: rows.to_tensor(tokenizer.pad_id, shape=tf.stack([-1, longest])),
        names.SEGMENT_IDS: tf.zeros_like(real),
        names.POSITION_IDS: tf.range(longest) * real,
        names.DOCUMENT_IDS: real,
    }
    return Encoded(features, pieces, whole.row_lengths() > pieces.row_lengths())
