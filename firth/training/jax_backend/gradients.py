"""Gradients of a batch as pure functions: in one pass, or summed over parts of it one after another."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import keras

from firth.models import example_sums

Batch: TypeAlias = Mapping[str, jax.Array]
Values: TypeAlias = list[jax.Array]


class JaxGradients(NamedTuple):
    """Gradients and losses of a batch.

    Attributes:
        gradients: Gradient of each weight that is trained.
        loss: Minimised loss, float32 [].
        means: Losses by name, float32 [] each.
    """

    gradients: Values
    loss: jax.Array
    means: dict[str, jax.Array]


class JaxDifferentiator:
    """Computes the gradients of a model's losses, normalised by the predictions of the whole batch."""

    def __init__(
        self, model: keras.Model, losses: Mapping[str, float], parts: int = 1, replicas: int = 1
    ) -> None:
        self._model, self._losses = model, losses
        self._parts, self._replicas = parts, replicas

    def __call__(self, trained: Values, others: Values, batch: Batch) -> tuple[JaxGradients, Values]:
        """Returns the gradients, and the values of the other variables after the pass.

        Parts change none of these: the state of the generator is the same for all, and no model carries a
        state from part to part.
        """
        if self._parts == 1:
            return self._differentiate(trained, others, batch, None)
        cut = {name: self._cut(value) for name, value in batch.items()}

        def part(index: Any) -> Batch:
            return {name: value[index] for name, value in cut.items()}

        # They follow from the features alone; XLA drops the rest of this pass.
        weights = self._summed(lambda index: self._weights(trained, others, part(index)))
        summed = self._summed(lambda index: self._differentiate(trained, others, part(index), weights)[0])
        return summed, others

    def _cut(self, value: jax.Array) -> jax.Array:
        """Returns rows as [parts, rows of a part, ...]; those of a device stay there."""
        rest = value.shape[1:]
        apart = jnp.reshape(value, (self._replicas, self._parts, -1, *rest))
        return jnp.reshape(jnp.swapaxes(apart, 0, 1), (self._parts, -1, *rest))

    def _summed(self, of_part: Callable[[Any], Any]) -> Any:
        """Returns a tree of arrays, summed over the parts."""
        zeros = jax.tree.map(lambda each: jnp.zeros(each.shape, each.dtype), jax.eval_shape(of_part, 0))
        return jax.lax.fori_loop(
            0, self._parts, lambda index, sums: jax.tree.map(jnp.add, sums, of_part(index)), zeros
        )

    def _weights(self, trained: Values, others: Values, batch: Batch) -> dict[str, jax.Array]:
        sums, _, _ = self._sums(trained, others, batch)
        return self._weights_of(sums)

    def _weights_of(self, sums: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
        return {name: sums[f"{name}_weight_sum"] for name in self._losses}

    def _sums(
        self, trained: Values, others: Values, batch: Batch
    ) -> tuple[dict[str, jax.Array], Values, list[jax.Array]]:
        predictions, others, added = self._model.stateless_call(
            trained, others, batch, training=True, return_losses=True
        )
        sums = {name: jnp.sum(value) for name, value in example_sums(predictions).items()}
        return sums, others, added

    def _differentiate(
        self, trained: Values, others: Values, batch: Batch, weights: Mapping[str, jax.Array] | None
    ) -> tuple[JaxGradients, Values]:
        """Returns the gradients of some rows, by the weights of a whole batch, or their own."""

        def loss_of(trained: Values) -> tuple[jax.Array, tuple[dict[str, jax.Array], Values]]:
            sums, after, added = self._sums(trained, others, batch)
            of_batch = weights or self._weights_of(sums)
            means = {name: _divide(sums[f"{name}_loss_sum"], of_batch[name]) for name in self._losses}
            # The losses that layers and weights add are the same in all parts, whose losses are summed.
            loss = sum(factor * means[name] for name, factor in self._losses.items())
            return jnp.asarray(loss + sum(added) / self._parts), (means, after)

        (loss, (means, after)), gradients = jax.value_and_grad(loss_of, has_aux=True)(trained)
        return JaxGradients(gradients, loss, means), after


def _divide(total: jax.Array, weight: jax.Array) -> jax.Array:
    """Returns a mean, 0 where nothing is weighted."""
    return jnp.where(weight > 0, total / jnp.where(weight > 0, weight, 1.0), 0.0)
