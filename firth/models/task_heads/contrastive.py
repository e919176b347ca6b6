"""The heads of tasks whose answer is a vector for each text, compared with the vectors of other texts."""

from collections.abc import Mapping
from typing import Any

import keras
from keras import ops

from firth import features as names
from firth.layers.elements.custom_gradient import gather_tokens
from firth.layers.elements.types import Tensor
from firth.layers.heads.pooling import document_means
from firth.models.heads import Features, Generator, Heads, place_of_answers
from firth.models.predictions import Predictions, predictions_of_logits

_NEVER = -1e9


@keras.saving.register_keras_serializable(package="firth")
class ContrastiveHeads(Heads):
    """Vectors of the texts of records, and the cross entropy of the right text among those of the batch.

    It has no weights: the vectors are those that the signature `embed` gives (`task.form.pooling`), brought
    to length 1 (Gao et al. 2021, equation 5).

    Example: see `tests/tasks/embedding_test.py`.
    """

    def _make(self, model: Any, task: Any, seed: Generator) -> None:
        (self.loss_term,) = task.loss_terms
        self._pooled_at = place_of_answers(task)
        self._texts, self._temperature = task.documents_of_record, task.temperature
        self._positive_from: float | None = task.positive_from
        self._pool = _POOLINGS[task.form.pooling]

    def build(self) -> None:
        """Creates no weights."""
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the vectors of each record's texts one after another, float32 [batch, records, texts *
        width], each of length 1.

        Args:
            features: Task's features, batched, with `pooled_positions`, int32 [batch, records * texts].
        """
        hidden = backbone(features, training=training)
        pooled = ops.cast(self._pool(hidden, features), "float32")
        square = ops.sum(ops.square(pooled), axis=-1, keepdims=True)
        vectors = pooled * ops.rsqrt(ops.maximum(square, 1e-12))
        batch, places = ops.shape(features[names.POOLED_POSITIONS])
        shape = (batch, places // self._texts, self._texts * self.width)
        return {self.loss_term.name: ops.reshape(vectors, shape)}

    def labels(self, features: Features) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the place of each record's right text among those of its row, and its weight, [batch,
        records] each.
        """
        weights = ops.cast(features[names.RECORD_WEIGHTS], "float32")
        if self._positive_from is not None:
            is_positive = ops.greater_equal(features[names.RECORD_LABELS], self._positive_from)
            weights = weights * ops.cast(is_positive, "float32")
        places = ops.arange(ops.shape(weights)[1], dtype="int32")
        return {self.loss_term.name: (ops.broadcast_to(places, ops.shape(weights)), weights)}

    def predictions(
        self, backbone: Any, features: Features, training: bool | None = None
    ) -> dict[str, Predictions]:
        """Returns the predictions of the loss, by its name: in training over the texts of the whole batch."""
        vectors = self.logits(backbone, features, training)
        if not training:
            return self.predictions_of(vectors, features)
        batch, records = ops.shape(features[names.RECORD_WEIGHTS])
        as_one_row = {
            name: ops.reshape(value, (1, batch * value.shape[1]))
            for name, value in features.items()
            if name in (names.RECORD_LABELS, names.RECORD_WEIGHTS, names.TEXT_KEYS)
        }
        joined = {
            name: ops.reshape(each, (1, batch * records, each.shape[-1])) for name, each in vectors.items()
        }
        made = self.predictions_of(joined, as_one_row)
        return {
            name: Predictions(*(ops.reshape(part, (batch, records)) for part in each))
            for name, each in made.items()
        }

    def predictions_of(self, logits: Mapping[str, Tensor], features: Features) -> dict[str, Predictions]:
        """Returns the predictions of the loss, by its name, over the texts of each row.

        A record whose right text is the only one in its row does not count.
        """
        name = self.loss_term.name
        vectors = logits[name]
        batch, records = ops.shape(vectors)[:2]
        texts = ops.reshape(vectors, (batch, records, self._texts, self.width))
        # The right texts of all records, then the negative ones of all.
        count = records * (self._texts - 1)
        others = ops.reshape(ops.swapaxes(texts[:, :, 1:], 1, 2), (batch, count, self.width))
        cosines = ops.matmul(texts[:, :, 0], ops.swapaxes(others, 1, 2))
        answers = self._are_answers(features, batch, records)
        asked = ops.where(answers, cosines / self._temperature, _NEVER)
        labels, weights = self.labels(features)[name]
        has_others = ops.greater(ops.sum(ops.cast(answers, "int32"), axis=-1), 1)
        return {name: predictions_of_logits(asked, labels, weights * ops.cast(has_others, "float32"))}

    def _are_answers(self, features: Features, batch: Any, records: Any) -> Tensor:
        """Returns true for the texts that are answers for a record, bool [batch, records, answers]."""
        there = ops.greater(features[names.RECORD_WEIGHTS], 0)
        keys = ops.reshape(features[names.TEXT_KEYS], (batch, records, self._texts))
        firsts, seconds = keys[:, :, 0], keys[:, :, 1]
        count = records * (self._texts - 1)
        of_others = ops.reshape(ops.swapaxes(keys[:, :, 1:], 1, 2), (batch, 1, count))
        same = ops.equal(ops.expand_dims(seconds, -1), of_others)
        same = ops.logical_or(same, ops.equal(ops.expand_dims(firsts, -1), of_others))
        # The right text of another record of the same first text is right too.
        related = ops.equal(ops.expand_dims(firsts, -1), ops.expand_dims(firsts, 1))
        negatives = ops.zeros_like(related)
        same = ops.logical_or(same, ops.concatenate([related, *[negatives] * (self._texts - 2)], axis=-1))
        own = ops.equal(ops.expand_dims(ops.arange(records), -1), ops.expand_dims(ops.arange(count), 0))
        exists = ops.concatenate([there] * (self._texts - 1), axis=-1)
        return ops.logical_and(ops.logical_or(ops.logical_not(same), own), ops.expand_dims(exists, 1))


def _first(hidden: Tensor, features: Features) -> Tensor:
    return gather_tokens(hidden, features[names.POOLED_POSITIONS])


def _mean(hidden: Tensor, features: Features) -> Tensor:
    return document_means(hidden, features[names.DOCUMENT_IDS], features[names.POOLED_POSITIONS].shape[1])


# By `task.form.pooling`.
_POOLINGS = {"first": _first, "mean": _mean}
