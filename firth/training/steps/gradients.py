"""Gradients of a batch: in one pass, or summed over parts of it that are small enough for the memory."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from firth.models import example_sums
from firth.training.distribution import sum_over_replicas

Batch = Mapping[str, tf.Tensor]


class BatchGradients(NamedTuple):
    """Gradients of a replica's part of a batch, which are to be summed over the replicas, as all here is.

    Attributes:
        gradients: Gradient of each trainable variable.
        loss: What was minimised, float32 [].
        means: Losses by name, float32 [] each.
    """

    gradients: list[tf.Tensor]
    loss: tf.Tensor
    means: dict[str, tf.Tensor]


class Differentiator:
    """Computes the gradients of a model's losses, normalised by the predictions of the whole batch."""

    def __init__(
        self,
        model: keras.Model,
        losses: Mapping[str, float],
        replicas: int,
        seed_draws: Callable[[], None],
    ) -> None:
        self._model, self._losses = model, losses
        self._replicas, self._seed_draws = replicas, seed_draws
        self._trainable = [variable.value for variable in model.trainable_variables]

    def whole(self, batch: Batch) -> BatchGradients:
        """Returns the gradients of a batch in one pass."""
        return self._differentiate(batch, lambda weights: sum_over_replicas(weights), 1)

    def accumulated(self, batch: Batch, parts: int) -> BatchGradients:
        """Returns the gradients of a batch, summed over its parts one after another.

        The weights of the losses, which follow from the features alone, are summed first, so that each part
        is normalised by those of the whole batch.
        """
        cut = {name: tf.reshape(value, [parts, -1, *value.shape[1:]]) for name, value in batch.items()}

        def part(index: tf.Tensor) -> Batch:
            return {name: tf.ensure_shape(value[index], value.shape[1:]) for name, value in cut.items()}

        def sum_parts(of_part: Callable[[Batch], Any], start: Any) -> Any:
            """Returns a nested structure of tensors, summed over the parts."""

            def add(index: tf.Tensor, totals: Any) -> tuple[tf.Tensor, Any]:
                return index + 1, tf.nest.map_structure(tf.add, totals, of_part(part(index)))

            loop = tf.while_loop(lambda index, _: index < parts, add, (0, start), parallel_iterations=1)
            return loop[1]

        none = tf.zeros([])
        weights = sum_parts(self._weights, [none for _ in self._losses])
        weights = sum_over_replicas(weights)
        start = BatchGradients(
            [tf.zeros(variable.shape, variable.dtype) for variable in self._trainable],
            none,
            dict.fromkeys(self._losses, none),
        )
        summed: BatchGradients = sum_parts(
            lambda each: self._differentiate(each, lambda _: weights, parts), start
        )
        return summed

    def _weights(self, batch: Batch) -> list[tf.Tensor]:
        """Returns the weight of each loss; what else the pass computes is pruned from the graph."""
        sums = self._sums(batch)
        return [sums[f"{name}_weight_sum"] for name in self._losses]

    def _sums(self, batch: Batch) -> dict[str, tf.Tensor]:
        self._seed_draws()
        sums = example_sums(self._model(batch, training=True))
        return {name: tf.reduce_sum(value) for name, value in sums.items()}

    def _differentiate(
        self, batch: Batch, whole_weights: Callable[[Sequence[tf.Tensor]], Sequence[tf.Tensor]], parts: int
    ) -> BatchGradients:
        # Weights that are not trained are not watched, so that nothing is computed for their gradients.
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(self._trainable)
            sums = self._sums(batch)
            weights = whole_weights([sums[f"{name}_weight_sum"] for name in self._losses])
            means = {
                name: tf.math.divide_no_nan(sums[f"{name}_loss_sum"], weight)
                for name, weight in zip(self._losses, weights)
            }
            loss = tf.add_n([factor * means[name] for name, factor in self._losses.items()])
            # What layers and weights add is the same in all replicas and parts, whose losses are summed.
            loss += sum(self._model.losses) / (self._replicas * parts)
        gradients = tape.gradient(loss, self._trainable, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return BatchGradients([tf.convert_to_tensor(each) for each in gradients], loss, means)
