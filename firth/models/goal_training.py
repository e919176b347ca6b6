"""Training of a model by Keras's own `compile`, `fit` and `evaluate`, where the goal is the loss."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import keras

from firth.layers.elements.types import Tensor
from firth.models.predictions import EpochMetrics, example_sums, total_loss

# Keywords of Keras for weights, which the features hold.
WEIGHTS = ("sample_weight", "class_weight")


class GoalTraining(keras.Model):
    """Base of models that Keras trains for a goal. Batches are features, which hold labels and weights.

    A subclass sets `_loss_weights`, the goal's `losses`; its call returns the predictions of each loss.
    """

    # Name of the goal in errors.
    _goal_key: ClassVar[str] = "goal"
    _loss_weights: Mapping[str, Any]
    _epoch_metrics: EpochMetrics | None = None

    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = None, **kwargs: Any
    ) -> None:
        """Prepares `fit` and `evaluate`, whose metrics are those of `EpochMetrics`.

        Args:
            optimizer: A Keras optimizer, or its name.
            loss: None: the goal is the loss.
            metrics: None: they follow from the goal.
            **kwargs: The other arguments of `keras.Model.compile`, without those of losses and metrics.

        Raises:
            ValueError: for a loss, metrics or weights of them.
        """
        ours = {"loss": loss, "metrics": metrics}
        ours |= {name: kwargs.get(name) for name in ("loss_weights", "weighted_metrics")}
        for name, value in ours.items():
            if value is not None:
                raise ValueError(
                    f"{type(self).__name__}: `{name}` follows from the {self._goal_key}; leave it out. "
                    f"Received: {name}={value!r}"
                )
        if not self.built:
            self.build()
        super().compile(optimizer, **kwargs)
        self._epoch_metrics = EpochMetrics(self._loss_weights)

    def get_compile_config(self) -> dict[str, Any]:
        """Returns the arguments of `compile` for a saved model; empty if it was not compiled."""
        if not self.compiled:
            return {}
        optimizer = keras.saving.serialize_keras_object(self.optimizer)
        return {"optimizer": optimizer, "jit_compile": self.jit_compile, "run_eagerly": self.run_eagerly}

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compiles a loaded model as it was when it was saved.

        Args:
            config: Config that `get_compile_config` returned.
        """
        self.compile(**keras.saving.deserialize_keras_object(config))
        self.optimizer.build(self.trainable_variables)

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Keras's own metrics and, after `compile`, those of the goal."""
        return [*super().metrics, *self.goal_metrics]

    @property
    def goal_metrics(self) -> list[keras.metrics.Metric]:
        """The metrics of the goal; empty before `compile`."""
        return self._epoch_metrics.metrics if self._epoch_metrics else []

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Tensor:
        """Returns the loss of one batch, a float32 scalar; labels and weights are features.

        Args:
            x: Features of the batch; not read.
            y: Targets, which must be None: the features hold them.
            y_pred: Predictions by name of the loss, as the call returns them.
            sample_weight: Weights, which must be None: the features hold them.
            training: Whether it is a training step; not read.

        Raises:
            ValueError: for targets or weights that are not among the features.
        """
        self._refuse({"y": y, "sample_weight": sample_weight}, ("y", "sample_weight"))
        return total_loss(example_sums(y_pred), self._loss_weights)["loss"] + sum(self.losses)

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """Returns the means so far of this epoch; see `EpochMetrics`.

        Args:
            x: Features of the batch; not read.
            y: Targets; not read.
            y_pred: Predictions by name of the loss, as the call returns them.
            sample_weight: Weights; not read.
        """
        self._compiled_metrics().update(y_pred)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """Returns the means so far of this epoch."""
        return self._compiled_metrics().results()

    def _compiled_metrics(self) -> EpochMetrics:
        if self._epoch_metrics is None:
            raise ValueError(f"{type(self).__name__}: call `compile` first")
        return self._epoch_metrics

    def _refuse(self, arguments: Mapping[str, Any], names: Sequence[str] = WEIGHTS) -> None:
        for name in names:
            if arguments.get(name) is not None:
                kind = type(self).__name__
                raise ValueError(f"{kind}: features hold labels and weights; leave out `{name}`")
