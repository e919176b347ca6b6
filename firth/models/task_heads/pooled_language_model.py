"""The heads of tasks with one answer for each record of a row, and of a language model on its texts."""

from typing import Any

import keras

from firth.layers.elements.types import Tensor
from firth.models.heads import Features, Generator
from firth.models.objective_heads.language_model import LanguageModelHeads
from firth.models.predictions import Predictions
from firth.models.task_heads.pooled import PooledHeads


@keras.saving.register_keras_serializable(package="firth")
class PooledLanguageModelHeads(PooledHeads, LanguageModelHeads):
    """A dense layer on one state of each record, and the next token at every position of the same states.

    Radford et al. 2018, section 3.2: the auxiliary loss. Its parts have the names that they have in
    `PooledHeads` and in `LanguageModelHeads`, so that the output table of a base is taken.

    Example: see `tests/tasks/texts_test.py`.
    """

    def _make(self, model: Any, task: Any, seed: Generator) -> None:
        LanguageModelHeads._make(self, model, task, seed)
        PooledHeads._make(self, model, task, seed)

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        LanguageModelHeads.build(self)
        PooledHeads.build(self)

    def labels(self, features: Features) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the labels and weights of the records, and of the tokens."""
        return {**PooledHeads.labels(self, features), **LanguageModelHeads.labels(self, features)}

    def predictions(
        self, backbone: Any, features: Features, training: bool | None = None
    ) -> dict[str, Predictions]:
        """Returns the predictions of both losses; the backbone reads the texts once."""
        hidden = backbone(features, training=training)
        of_records = self.predictions_of(self.logits_of(hidden, features, training), features)
        return {**of_records, **self.predictions_of_states(backbone, hidden, features, training)}
