"""The head of tasks whose answer is a span of a record's tokens."""

from typing import Any

import keras
from keras import ops

from firth import features as names
from firth.layers.elements.types import Tensor
from firth.models.heads import Features, Generator, Heads, place_of_answers

# Logit of the tokens of other records; finite, so that a record that is not there has a finite loss.
_ELSEWHERE = -1e9


@keras.saving.register_keras_serializable(package="firth")
class SpansHeads(Heads):
    """Two dense layers on the state of each token: how likely it begins an answer, and ends it.

    The tokens of a record compete with each other (Devlin et al. 2018, section 4.2), `[CLS]` and the question
    among them. Its part is an attribute: `dense`.

    Example: see `tests/tasks/span_test.py`.
    """

    def _make(self, model: Any, task: Any, seed: Generator) -> None:
        self._pooled_at = place_of_answers(task)
        self._ends = tuple(loss.name for loss in task.loss_terms)
        self.dense = self._make_dense(len(self._ends), model.initializer_stddev, seed)

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        self.dense.build((None, None, self.width))
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of each record's first and last place, float32 [batch, records, length] each.

        Args:
            features: Task's features, batched, with `pooled_positions`, int32 [batch, records].
        """
        made = ops.cast(self.dense(backbone(features, training=training)), "float32")
        records = features[names.POOLED_POSITIONS].shape[1]
        numbers = ops.reshape(ops.arange(1, records + 1, dtype="int32"), (1, -1, 1))
        own = ops.equal(ops.expand_dims(ops.cast(features[names.DOCUMENT_IDS], "int32"), 1), numbers)
        return {
            name: ops.where(own, ops.expand_dims(made[:, :, place], 1), _ELSEWHERE)
            for place, name in enumerate(self._ends)
        }

    def labels(self, features: Features) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the places and weights of the answers' ends, [batch, records] each."""
        places = (features[names.START_LABELS], features[names.END_LABELS])
        return {name: (each, features[names.RECORD_WEIGHTS]) for name, each in zip(self._ends, places)}
