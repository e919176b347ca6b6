"""Encodes the texts of a record as a task lays them out, inside the graph."""

from typing import NamedTuple

import tensorflow as tf

from firth import features as names
from firth.serving.served import Served
from firth.tasks.fitting import fit_texts


class EncodedTexts(NamedTuple):
    """Records, one a row, encoded for a model.

    Attributes:
        features: Features by name, padded to the longest of the batch, with `pooled_positions`, int32
            [batch, 1].
        truncated: bool [batch], True if the texts were longer than the row and were cut.
    """

    features: dict[str, tf.Tensor]
    truncated: tf.Tensor


def encode_texts(served: Served, *texts: tf.Tensor) -> EncodedTexts:
    """Encodes records of one text or two, as `TextsTask` lays them out in rows.

    Args:
        served: Model and tokenizer, of a task.
        *texts: The texts of the records, string [batch] each.
    """
    room = served.row_length - served.task.form.special_tokens(len(texts))
    fitted = fit_texts([served.tokenizer.tokenize(each) for each in texts], room)
    return EncodedTexts(features_of_pieces(served, *fitted.texts), fitted.cut > 0)


def features_of_pieces(served: Served, *texts: tf.RaggedTensor) -> dict[str, tf.Tensor]:
    """Returns the features of records whose pieces fit a row; see `EncodedTexts`.

    Args:
        served: Model and tokenizer, of a task.
        *texts: Pieces of the texts of the records, ragged int32 [batch, (pieces)] each.
    """
    form, batch = served.task.form, texts[0].nrows()
    before, between, after = (
        _repeat(served.special_ids(each), batch) for each in (form.before, form.between, form.after)
    )
    first = tf.concat([before, texts[0]], axis=1)
    rest = [each for text in texts[1:] for each in (between, text)]
    # The special tokens between two texts belong to the first one, those at the end to the last one.
    ids = tf.concat([first, *rest, after], axis=1)
    starts = first.row_lengths() + len(form.between) if rest else ids.row_lengths()
    return _features(served, ids, starts)


def _repeat(ids: tuple[int, ...], batch: tf.Tensor) -> tf.RaggedTensor:
    return tf.RaggedTensor.from_tensor(tf.tile(tf.constant([ids], tf.int32, [1, len(ids)]), [batch, 1]))


def _features(served: Served, ids: tf.RaggedTensor, starts: tf.Tensor) -> dict[str, tf.Tensor]:
    form = served.task.form
    lengths = tf.cast(ids.row_lengths(), tf.int32)
    # The maximum over an empty batch is the smallest integer.
    longest = tf.maximum(tf.reduce_max(lengths), 1)
    real = tf.sequence_mask(lengths, longest, tf.int32)
    places = tf.range(longest)[tf.newaxis]
    pooled = lengths - 1 if form.pooling == "last" else tf.zeros_like(lengths)
    features = {
        names.TOKEN_IDS: ids.to_tensor(served.tokenizer.pad_id, shape=tf.stack([-1, longest])),
        names.POSITION_IDS: places * real,
        names.DOCUMENT_IDS: real,
        names.POOLED_POSITIONS: pooled[:, tf.newaxis],
    }
    if form.has_segments:
        second = (places >= tf.cast(starts, tf.int32)[:, tf.newaxis]) & form.tells_texts
        features[names.SEGMENT_IDS] = tf.cast(second, tf.int32) * real
    return features
