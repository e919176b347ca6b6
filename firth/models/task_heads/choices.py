"""The head of tasks whose records bring their own choices."""

from typing import Any

import keras
from keras import ops

from firth import features as names
from firth.layers.elements.types import Tensor
from firth.models.heads import Features
from firth.models.task_heads.pooled import PooledHeads

# The logit of a place that is not a choice of a record; its probability is 0.
_NO_CHOICE = -1e9


@keras.saving.register_keras_serializable(package="firth")
class ChoicesHeads(PooledHeads):
    """A dense layer that gives each choice a number, and the numbers of a record's choices as its logits.

    Its parts are attributes: those of `PooledHeads`.

    Example: see `tests/tasks/choice_test.py`.
    """

    _units = 1

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of each record's choices, float32 [batch, places, places].

        Those of a record are at the place of its first choice, one after another.

        Args:
            features: Task's features, batched, with `pooled_positions`, int32 [batch, places], and
                `choice_counts`, int32 [batch, places].
        """
        scores = super().logits(backbone, features, training)[self.loss_term.name][..., 0]
        places = scores.shape[1]
        choices = ops.expand_dims(ops.arange(places, dtype="int32"), 0)
        sources = ops.minimum(ops.transpose(choices) + choices, places - 1)
        taken = ops.reshape(ops.take(scores, ops.reshape(sources, (-1,)), axis=1), (-1, places, places))
        counts = ops.expand_dims(ops.cast(features[names.CHOICE_COUNTS], "int32"), -1)
        return {self.loss_term.name: ops.where(ops.expand_dims(choices, 0) < counts, taken, _NO_CHOICE)}
