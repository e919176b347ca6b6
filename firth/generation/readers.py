"""Models that read the beginnings of texts and go on with them."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from firth import features as names
from firth.models.backbone_with_heads import BackboneWithHeads


class StackReader:
    """One causal stack, which has read an input as a prefix.

    Args:
        model: Model with a causal stack and a head over the vocabulary.
        inputs: Tokens of each input with its special ones, ragged int32 [batch, (tokens)].
        most: Most tokens to write.
        pad_id: Id of padding.
        facts: What else the model reads of each text, by name: tensors [batch, ...].
    """

    def __init__(
        self,
        model: BackboneWithHeads,
        inputs: tf.RaggedTensor,
        most: int,
        pad_id: int,
        facts: Mapping[str, tf.Tensor] | None = None,
    ) -> None:
        self._model, self._inputs, self._pad_id = model, inputs, pad_id
        self._lengths = tf.cast(inputs.row_lengths(), tf.int32)
        # The maximum over an empty batch is the smallest integer.
        self._longest = tf.maximum(tf.reduce_max(self._lengths), 1)
        # Padding stands in front, so that what is written follows its input at once, as in training.
        real = tf.reverse(tf.sequence_mask(self._lengths, self._longest, tf.int32), [1])
        self._places = (tf.range(self._longest) - self._longest + self._lengths[:, tf.newaxis]) * real
        after = tf.ones([tf.shape(self._lengths)[0], most], tf.int32)
        later = self._lengths[:, tf.newaxis] + tf.range(most)
        self._rows = {
            **(facts or {}),
            names.DOCUMENT_IDS: tf.concat([real, after], axis=1),
            names.ATTENTION_ORDER: tf.concat([tf.zeros_like(real), later], axis=1),
        }

    def begin(self) -> tuple[tf.Tensor, Any]:
        """Returns the logits of each text's first token, float32 [batch, vocabulary], and a cache."""
        backwards = self._inputs[:, ::-1].to_tensor(self._pad_id, shape=tf.stack([-1, self._longest]))
        ids = tf.reverse(backwards, [1])
        return self._read(ids, self._places, self._model.backbone.empty_cache(self._rows), 0)

    def read(self, tokens: tf.Tensor, step: tf.Tensor, cache: Any) -> tuple[tf.Tensor, Any]:
        """Returns the logits of the token after the given ones, float32 [batch, vocabulary], and a new cache.

        Args:
            tokens: Token of each text that was written last, int32 [batch].
            step: Its place in what is written, from 0, int32 [].
            cache: Cache that the last call returned.
        """
        positions = (self._lengths + step)[:, tf.newaxis]
        return self._read(tokens[:, tf.newaxis], positions, cache, self._longest + step)

    def _read(self, ids: tf.Tensor, positions: tf.Tensor, cache: Any, index: Any) -> tuple[tf.Tensor, Any]:
        features = {**self._rows, names.TOKEN_IDS: ids, names.POSITION_IDS: positions}
        hidden, cache = self._model.backbone.call_with_cache(features, cache, index)
        return self._model.heads.project(self._model.backbone, hidden[:, -1]), cache


class DecoderReader:
    """A decoder next to an encoder, which has read an input.

    Args:
        model: Model with an encoder, a decoder and a head over the vocabulary.
        inputs: Tokens of each input with its special ones, ragged int32 [batch, (tokens)].
        start: Special tokens that the decoder starts from.
        most: Most tokens to write.
        pad_id: Id of padding.
        facts: What else the model reads of each text, by name: tensors [batch, ...].
    """

    def __init__(
        self,
        model: BackboneWithHeads,
        inputs: tf.RaggedTensor,
        start: tuple[int, ...],
        most: int,
        pad_id: int,
        facts: Mapping[str, tf.Tensor] | None = None,
    ) -> None:
        self._model, self._start = model, start
        lengths = tf.cast(inputs.row_lengths(), tf.int32)
        self._batch, longest = tf.shape(lengths)[0], tf.maximum(tf.reduce_max(lengths), 1)
        real = tf.sequence_mask(lengths, longest, tf.int32)
        self._rows = {
            **(facts or {}),
            names.TOKEN_IDS: inputs.to_tensor(pad_id, shape=tf.stack([-1, longest])),
            names.POSITION_IDS: tf.range(longest)[tf.newaxis] * real,
            names.DOCUMENT_IDS: real,
            names.DECODER_DOCUMENT_IDS: tf.ones([self._batch, len(start) + most], tf.int32),
        }

    def begin(self) -> tuple[tf.Tensor, Any]:
        """Returns the logits of each text's first token, float32 [batch, vocabulary], and a cache."""
        ids = tf.tile(tf.constant([self._start], tf.int32), [self._batch, 1])
        return self._read(ids, 0, self._model.backbone.empty_cache(self._rows))

    def read(self, tokens: tf.Tensor, step: tf.Tensor, cache: Any) -> tuple[tf.Tensor, Any]:
        """Returns the logits of the token after the given ones, float32 [batch, vocabulary], and a new cache.

        Args:
            tokens: Token of each text that was written last, int32 [batch].
            step: Its place in what is written, from 0, int32 [].
            cache: Cache that the last call returned.
        """
        return self._read(tokens[:, tf.newaxis], len(self._start) + step, cache)

    def _read(self, ids: tf.Tensor, index: Any, cache: Any) -> tuple[tf.Tensor, Any]:
        positions = tf.tile((index + tf.range(ids.shape[1]))[tf.newaxis], [self._batch, 1])
        features = {**self._rows, names.DECODER_TOKEN_IDS: ids, names.DECODER_POSITION_IDS: positions}
        hidden, cache = self._model.backbone.call_with_cache(features, cache, index)
        return self._model.heads.project(self._model.backbone, hidden[:, -1]), cache
