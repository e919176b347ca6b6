"""Encodes the texts of a record as a task lays them out, inside the graph."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from firth import features as names
from firth.serving.encoding import repeat_ids, word_features
from firth.serving.served_model import Served
from firth.serving.signature import Reading
from firth.tasks.inputs import decoder_side, fit_texts, with_last_segment


class EncodedTexts(NamedTuple):
    """Records, one a row, encoded for a model.

    Attributes:
        features: Features by name, padded to the longest of the batch, with `pooled_positions`, int32
            [batch, orders].
        reading: How much of the texts of each record is read.
    """

    features: dict[str, tf.Tensor]
    reading: Reading


def encode_texts(served: Served, *texts: tf.Tensor) -> EncodedTexts:
    """Encodes records of one text or two, as `TextsTask` lays them out in rows.

    Args:
        *texts: The texts of the records, string [batch] each.
    """
    form = served.task.form
    room = served.row_length // form.orders - form.special_tokens(len(texts))
    split = served.tokenizer.split if form.of_words else served.tokenizer.tokenize
    fitted = fit_texts([split(each) for each in texts], room)
    read = encode_record_words if form.of_words else encode_pieces
    reading = Reading(fitted.kept, fitted.kept + fitted.cut)
    return EncodedTexts(read(served, *fitted.texts), reading)


def encode_record_words(served: Served, *texts: tf.RaggedTensor) -> dict[str, tf.Tensor]:
    """Returns the features of records whose words fit a row, each text a document of its own.

    Args:
        *texts: Words of the texts of the records, ragged string [batch, (words)] each.
    """
    parts = [word_features(each, served.tokenizer) for each in texts]
    documents = [part[names.DOCUMENT_IDS] * number for number, part in enumerate(parts, 1)]
    return {
        names.DOCUMENT_IDS: tf.concat(documents, axis=1),
        names.CHARACTERS: tf.concat([part[names.CHARACTERS] for part in parts], axis=1),
        # Written so that the width is known where an export does not know the length of the rows.
        names.POOLED_POSITIONS: tf.zeros([tf.shape(documents[0])[0], 1], tf.int32),
    }


def encode_pieces(served: Served, *texts: tf.RaggedTensor) -> dict[str, tf.Tensor]:
    """Returns the features of records whose pieces fit a row; see `EncodedTexts`.

    Args:
        *texts: Pieces of the texts of the records, ragged int32 [batch, (pieces)] each.
    """
    orders = [texts, texts[::-1]][: served.task.form.orders]
    return _features(served, [_lay_out(served, each) for each in orders])


class _LaidOut(NamedTuple):
    """Texts with their special tokens: ragged int32 [batch, (tokens)], and the place in each row where the
    last text begins, int32 [batch].
    """

    ids: tf.RaggedTensor
    second: tf.Tensor


def _lay_out(served: Served, texts: Sequence[tf.RaggedTensor]) -> _LaidOut:
    form, batch = served.task.form, texts[0].nrows()
    before, between, after = (
        tf.RaggedTensor.from_tensor(repeat_ids(served.special_ids(each), batch))
        for each in (form.before, form.between, form.after)
    )
    first = tf.concat([before, texts[0]], axis=1)
    rest = [each for text in texts[1:] for each in (between, text)]
    # The special tokens between two texts belong to the first one, those at the end to the last one.
    ids = tf.concat([first, *rest, after], axis=1)
    starts = first.row_lengths() + len(form.between) if rest else ids.row_lengths()
    return _LaidOut(ids, tf.cast(starts, tf.int32))


def _features(served: Served, documents: Sequence[_LaidOut]) -> dict[str, tf.Tensor]:
    """Returns the features of rows that hold one document after another."""
    form = served.task.form
    sizes = tf.stack([tf.cast(each.ids.row_lengths(), tf.int32) for each in documents], axis=1)
    ids = tf.concat([each.ids for each in documents], axis=1)
    lengths = tf.reduce_sum(sizes, axis=1)
    # The maximum over an empty batch is the smallest integer.
    longest = tf.maximum(tf.reduce_max(lengths), 1)
    real = tf.sequence_mask(lengths, longest, tf.int32)
    begins = tf.cumsum(sizes, axis=1, exclusive=True)
    numbers = tf.reduce_sum(
        tf.cast(tf.range(longest)[tf.newaxis, :, tf.newaxis] >= begins[:, tf.newaxis], tf.int32), axis=2
    )
    places = tf.range(longest)[tf.newaxis] - tf.gather(begins, numbers - 1, batch_dims=1)
    features = {
        names.TOKEN_IDS: ids.to_tensor(served.tokenizer.pad_id, shape=tf.stack([-1, longest])),
        names.POSITION_IDS: places * real,
        names.DOCUMENT_IDS: numbers * real,
        names.POOLED_POSITIONS: begins + sizes - 1 if form.summary_is_last else begins,
    }
    if form.has_segments:
        starts = tf.stack([each.second for each in documents], axis=1)
        second = (places >= tf.gather(starts, numbers - 1, batch_dims=1)) & form.separates_texts
        of_texts = tf.cast(second, tf.int32) * real
        features[names.SEGMENT_IDS] = with_last_segment(of_texts, features[names.DOCUMENT_IDS], form)
    return {**features, **decoder_side(features, form, served.tokenizer)}
