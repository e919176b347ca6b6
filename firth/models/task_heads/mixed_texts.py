"""The head of tasks with one answer for each record, on mixed layers."""

from typing import Any

import keras
from keras import ops

from firth import features as names
from firth.layers import AttentionPooling
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.types import Tensor
from firth.models.heads import Features, Generator, place_of_answers
from firth.models.task_heads.mixed_layers import MixedLayersEncoder
from firth.models.task_heads.pooled import PooledHeads


@keras.saving.register_keras_serializable(package="firth")
class MixedTextsHeads(PooledHeads):
    """The vectors of a record's texts, which attention pools, compared if they are two, and two dense layers.

    Two texts `u` and `v` are `[u; v; |u - v|; u * v]` (Conneau et al. 2017, "Supervised Learning of Universal
    Sentence Representations from Natural Language Inference Data", section 3.2).

    Its parts are attributes: `encoder`, `pooling`, `hidden`, `dropout` and `dense`.

    Example: see `tests/models/task_heads/mixed_layers_test.py`.
    """

    def _make(self, model: Any, task: Any, seed: Generator) -> None:
        (self.loss_term,) = task.loss_terms
        self._pooled_at = place_of_answers(task)
        shared = {"dtype": self.dtype_policy}
        self.encoder = MixedLayersEncoder(model, task, seed, name="encoder", **shared)
        self._texts, width = task.texts, self.encoder.width
        self._compared = width * (4 if self._texts > 1 else 1)
        # Their inputs are as large as those of fresh layers are, not as the states of a trained backbone.
        self.pooling = AttentionPooling(width, width**-0.5, seed, name="pooling", **shared)
        self.dropout = Dropout(task.dropout, seed=seed, name="dropout", **shared)
        self.hidden = self._make_dense(width, self._compared**-0.5, seed, "hidden", activation="tanh")
        self.dense = self._make_dense(self.loss_term.classes, width**-0.5, seed, bias=task.head_bias)

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        self.encoder.build()
        self.pooling.build((None, None, self.encoder.width))
        self.hidden.build((None, None, self._compared))
        self.dense.build((None, None, self.encoder.width))
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of each record's answers, float32 [batch, records, classes].

        Args:
            features: Task's features, batched, with `pooled_positions`, int32 [batch, records], of which only
                the shape is read.
        """
        states, words = self.encoder.states(backbone, features, training)
        records = features[names.POOLED_POSITIONS].shape[1]
        pooled = self.pooling(states, words, documents=records * self._texts)
        record = self.dropout(self._compare(pooled, records), training=training)
        hidden = self.dropout(self.hidden(record), training=training)
        return {self.loss_term.name: ops.cast(self.dense(hidden), "float32")}

    def _compare(self, pooled: Tensor, records: int) -> Tensor:
        """Returns one vector of each record, from those of its texts."""
        if self._texts == 1:
            return pooled
        both = ops.reshape(pooled, (-1, records, 2, self.encoder.width))
        one, other = both[:, :, 0], both[:, :, 1]
        return ops.concatenate([one, other, ops.abs(one - other), one * other], axis=-1)
