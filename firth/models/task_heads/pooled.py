"""The heads of tasks with one answer for each record of a row, also with a language model or with choices."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import keras
from keras import ops

from firth import features as names
from firth.layers import Pooler
from firth.layers.elements.custom_gradient import gather_tokens
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.types import Tensor
from firth.layers.heads.pooling import document_means
from firth.models.heads import Features, Generator, Heads, place_of_answers, states_at, states_of
from firth.models.objective_heads.language_model import LanguageModelHeads
from firth.models.predictions import Predictions, predictions_of_logits, predictions_of_numbers

# The logit of a place that is not a choice of a record; its probability is 0.
_NO_CHOICE = -1e9


@keras.saving.register_keras_serializable(package="firth")
class PooledHeads(Heads):
    """A dense layer on one vector of each record.

    The vector is the first state, the last state, or the mean of all (`task.form.pooling`); the state goes
    through a pooler where the form has one, and where a record is read in two orders, both are summed
    (Radford et al. 2018, section 3.3). The pooler starts from that of the base, where it has one. A loss of
    one answer is that of a number, the squared error.

    Its parts are attributes: `pooler`, or None; `dropout`; `dense`.

    Example: see `tests/tasks/texts_test.py`.
    """

    # Outputs for a vector; None for one of each class.
    _units: int | None = None

    def _make(self, model: Any, task: Any, seed: Generator) -> None:
        self.loss_term = task.loss_terms[0]
        shared = {"dtype": self.dtype_policy}
        self._read, self._pool = _POOLINGS[task.form.pooling]
        self._orders = task.form.orders
        self._pooled_at = place_of_answers(task)
        self.reads_encoder_alone = task.form.encoder_alone
        self.pooler: Any = None
        if task.form.has_pooler:
            self.pooler = Pooler(self.width, model.initializer_stddev, seed, name="pooler", **shared)
        self.dropout = Dropout(task.dropout, seed=seed, name="dropout", **shared)
        stddev = model.initializer_stddev
        self.dense = self._make_dense(
            self._units or self.loss_term.classes,
            stddev,
            seed,
            bias=task.head_bias,
            use_bias=task.form.has_bias,
        )

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        if self.pooler is not None:
            self.pooler.build((None, None, self.width))
        self.dense.build((None, None, self.width))
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of each record's answers, float32 [batch, records, classes].

        Args:
            features: Task's features, batched, with `pooled_positions`, int32 [batch, documents].
        """
        pooled = self._read(self, backbone, features, training)
        return self._logits_of_vectors(pooled, training)

    def logits_of(
        self, hidden: Tensor, features: Features, training: bool | None = None
    ) -> dict[str, Tensor]:
        """Returns the logits of each record's answers, float32 [batch, records, classes].

        Args:
            hidden: States of the backbone, float tensor [batch, length, width].
            features: Task's features, batched, with `pooled_positions`, int32 [batch, documents].
        """
        return self._logits_of_vectors(self._pool(self, hidden, features), training)

    def _logits_of_vectors(self, vectors: Tensor, training: bool | None) -> dict[str, Tensor]:
        pooled = self.dropout(self._sums(vectors), training=training)
        return {self.loss_term.name: ops.cast(self.dense(pooled), "float32")}

    def _sums(self, pooled: Tensor) -> Tensor:
        """Returns the vectors of records from those of their orders."""
        if self._orders == 1:
            return pooled
        records = pooled.shape[1] // self._orders
        return ops.sum(ops.reshape(pooled, (-1, records, self._orders, self.width)), axis=2)

    def labels(self, features: Features) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the labels and weights of the records, [batch, records] each."""
        return {self.loss_term.name: (features[names.RECORD_LABELS], features[names.RECORD_WEIGHTS])}

    def predictions_of(self, logits: Mapping[str, Tensor], features: Features) -> dict[str, Predictions]:
        """Returns the predictions of the loss, by its name."""
        made = predictions_of_numbers if self.loss_term.classes == 1 else predictions_of_logits
        labels = self.labels(features)
        return {name: made(logits[name], *labels[name]) for name in logits}


class _Pooling(NamedTuple):
    """Functions that make the vectors of records [batch, documents, width].

    Attributes:
        read: Function of (heads, backbone, features, training).
        pool: Function of (heads, states, features), for states of the backbone that were already computed.
    """

    read: Callable[..., Tensor]
    pool: Callable[..., Tensor]


def _read_one(heads: PooledHeads, backbone: Any, features: Features, training: bool | None) -> Tensor:
    states = states_at(
        backbone, features, features[names.POOLED_POSITIONS], heads.reads_encoder_alone, training
    )
    return states if heads.pooler is None else heads.pooler.dense(states)


def _one(heads: PooledHeads, hidden: Tensor, features: Features) -> Tensor:
    read = gather_tokens if heads.pooler is None else heads.pooler
    return read(hidden, features[names.POOLED_POSITIONS])


def _read_mean(heads: PooledHeads, backbone: Any, features: Features, training: bool | None) -> Tensor:
    return _mean(heads, states_of(backbone, features, heads.reads_encoder_alone, training), features)


def _mean(heads: PooledHeads, hidden: Tensor, features: Features) -> Tensor:
    return document_means(hidden, features[names.DOCUMENT_IDS], features[names.POOLED_POSITIONS].shape[1])


# By `task.form.pooling`.
_POOLINGS = {
    "first": _Pooling(_read_one, _one),
    "first_state": _Pooling(_read_one, _one),
    "last": _Pooling(_read_one, _one),
    "mean": _Pooling(_read_mean, _mean),
}


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
