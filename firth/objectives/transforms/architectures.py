"""Inputs and targets as Features: for an encoder and a decoder, or one after the other for one stack."""

import tensorflow as tf

from firth import features
from firth.objectives.transforms.documents import Parts, find_parts, of_documents


def encoder_decoder_features(
    inputs: Parts, targets: Parts, weights: tf.Tensor, start_id: int
) -> dict[str, tf.Tensor]:
    """Returns Features of an encoder that reads the inputs and a decoder that writes the targets.

    In each document the decoder reads `start_id` and then the targets but for the last one.

    Args:
        weights: Weights of each document's targets in the loss, float32 [max_documents].
    """
    documents, offsets = find_parts(inputs.lengths, tf.size(inputs.ids))
    decoder_documents, decoder_offsets = find_parts(targets.lengths, tf.size(targets.ids))
    exists = decoder_documents < tf.size(targets.lengths)
    read = tf.where(decoder_offsets > 0, tf.roll(targets.ids, 1, 0), start_id)
    label_weights = of_documents(weights, decoder_documents)
    return {
        features.TOKEN_IDS: inputs.ids,
        features.POSITION_IDS: offsets,
        features.DOCUMENT_IDS: _document_ids(documents, inputs.lengths),
        features.DECODER_TOKEN_IDS: tf.where(exists, read, 0),
        features.DECODER_POSITION_IDS: decoder_offsets,
        features.DECODER_DOCUMENT_IDS: _document_ids(decoder_documents, targets.lengths),
        features.LABEL_IDS: tf.where(label_weights > 0, targets.ids, 0),
        features.LABEL_WEIGHTS: label_weights,
    }


def decoder_features(inputs: Parts, targets: Parts, weights: tf.Tensor, length: int) -> dict[str, tf.Tensor]:
    """Returns Features of one stack that reads each document's inputs and goes on with its targets.

    The inputs see one another; the targets see the tokens before them. The last input predicts the first
    target; the last target is predicted, and not read.

    Args:
        weights: Weights of each document's targets in the loss, float32 [max_documents].
    """
    lengths = tf.where(inputs.lengths > 0, inputs.lengths + targets.lengths - 1, 0)
    documents, offsets = find_parts(lengths, length)
    exists = documents < tf.size(lengths)
    after = offsets - of_documents(inputs.lengths, documents)  # Place among the targets, from 0.
    input_places = of_documents(tf.cumsum(inputs.lengths, exclusive=True), documents) + offsets
    target_places = of_documents(tf.cumsum(targets.lengths, exclusive=True), documents) + after
    from_targets = tf.gather(targets.ids, tf.clip_by_value(target_places, 0, tf.size(targets.ids) - 1))
    from_inputs = tf.gather(inputs.ids, tf.minimum(input_places, tf.size(inputs.ids) - 1))
    labels = tf.gather(targets.ids, tf.clip_by_value(target_places + 1, 0, tf.size(targets.ids) - 1))
    label_weights = tf.where(after >= -1, of_documents(weights, documents), 0.0)
    return {
        features.TOKEN_IDS: tf.where(exists, tf.where(after >= 0, from_targets, from_inputs), 0),
        features.POSITION_IDS: offsets,
        features.DOCUMENT_IDS: _document_ids(documents, lengths),
        features.ATTENTION_ORDER: tf.where(exists & (after >= 0), offsets, 0),
        features.LABEL_IDS: tf.where(label_weights > 0, labels, 0),
        features.LABEL_WEIGHTS: label_weights,
    }


def _document_ids(documents: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    return tf.where(documents < tf.size(lengths), documents + 1, 0)
