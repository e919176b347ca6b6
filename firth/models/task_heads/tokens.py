"""The head of tasks with an answer for each token of a row."""

from typing import Any

import keras
from keras import ops

from firth import features as names
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.types import Tensor
from firth.models.heads import Features, Generator, Heads, states_of


@keras.saving.register_keras_serializable(package="firth")
class TokensHeads(Heads):
    """A dense layer on the state of each token.

    Its parts are attributes: `dropout` and `dense`.

    Example: see `tests/tasks/tagging_test.py`.
    """

    def _make(self, model: Any, task: Any, seed: Generator) -> None:
        (self.loss_term,) = task.loss_terms
        self._encoder_alone = task.form.encoder_alone
        self.dropout = Dropout(task.dropout, seed=seed, name="dropout", dtype=self.dtype_policy)
        self.dense = self._make_dense(
            self.loss_term.classes, model.initializer_stddev, seed, bias=task.head_bias
        )

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        self.dense.build((None, None, self.width))
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of each token's answers, float32 [batch, length, classes]."""
        hidden = states_of(backbone, features, self._encoder_alone, training)
        hidden = self.dropout(hidden, training=training)
        return {self.loss_term.name: ops.cast(self.dense(hidden), "float32")}

    def labels(self, features: Features) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the labels and weights of the tokens, [batch, length] each."""
        return {self.loss_term.name: (features[names.LABEL_IDS], features[names.LABEL_WEIGHTS])}
