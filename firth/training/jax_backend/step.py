"""One training step as a pure function: forward, loss, backward, update."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import keras

from firth.models import example_sums
from firth.training.steps import StepResult, count_tokens

Batch: TypeAlias = Mapping[str, jax.Array]


class State(NamedTuple):
    """Values of all variables of a run.

    Attributes:
        trained: Values of the weights that are trained.
        others: Values of the model's other variables.
        of_optimizer: Values of the optimizer's variables.
    """

    trained: list[jax.Array]
    others: list[jax.Array]
    of_optimizer: list[jax.Array]


class TrainStep:
    """A step of a model, as `firth.training.steps.build_train_step` has it on TensorFlow.

    On several devices the batch is divided among them by XLA, so that all here is of the whole batch.

    Args:
        model: Model that is called with (features, training=True) and returns `Predictions` by name.
        optimizer: Optimizer whose `apply` returns the norm of the gradients.
        losses: Weights in the sum that is minimised, by name of the loss.
    """

    def __init__(
        self, model: keras.Model, optimizer: keras.optimizers.Optimizer, losses: Mapping[str, float]
    ) -> None:
        self._model, self._optimizer, self._losses = model, optimizer, losses
        self._variables = State(model.trainable_variables, model.non_trainable_variables, optimizer.variables)
        draws = id(model.seed_generator.state)
        self._place_of_draws = [id(each) for each in self._variables.others].index(draws)

    def read(self) -> State:
        """Returns the values of the variables."""
        return State(*([each.value for each in part] for part in self._variables))

    def write(self, state: State) -> None:
        """Sets the variables.

        Args:
            state: Their values.
        """
        for variables, values in zip(self._variables, state, strict=True):
            for variable, value in zip(variables, values, strict=True):
                variable.assign(value)

    def __call__(self, state: State, batch: Batch, draws: jax.Array) -> tuple[State, StepResult]:
        """Returns the values after a step, and what it measured.

        Args:
            state: Values before the step.
            batch: Features of the batch.
            draws: State of the generator that draws for a batch are made from, uint32 [2].
        """
        others = list(state.others)
        others[self._place_of_draws] = draws
        differentiate = jax.value_and_grad(self._loss, has_aux=True)
        (loss, (means, others)), gradients = differentiate(state.trained, others, batch)
        updated, norm, rate = self._update(State(state.trained, others, state.of_optimizer), gradients)
        return updated, StepResult(loss, means, norm, count_tokens(batch), rate)

    def _loss(
        self, trained: list[jax.Array], others: list[jax.Array], batch: Batch
    ) -> tuple[jax.Array, tuple[dict[str, jax.Array], list[jax.Array]]]:
        predictions, others, added = self._model.stateless_call(
            trained, others, batch, training=True, return_losses=True
        )
        sums = {name: jnp.sum(value) for name, value in example_sums(predictions).items()}
        means = {name: _divide(sums[f"{name}_loss_sum"], sums[f"{name}_weight_sum"]) for name in self._losses}
        loss = sum(factor * means[name] for name, factor in self._losses.items()) + sum(added)
        return loss, (means, others)

    def _update(self, state: State, gradients: Sequence[jax.Array]) -> tuple[State, jax.Array, jax.Array]:
        """Returns the values after an update, the norm of the gradients and the learning rate."""
        optimizer, observers = self._optimizer, self._model.added.observers
        pairs = [
            pair for part in zip(self._variables, state, strict=True) for pair in zip(*part, strict=True)
        ]
        with keras.StatelessScope(state_mapping=pairs) as scope:
            rate = jnp.asarray(optimizer.learning_rate, jnp.float32)
            norm = optimizer.apply(gradients, self._variables.trained)
            if observers:
                read = optimizer.clipped(gradients, norm)
                by_path = {each.path: grad for each, grad in zip(self._variables.trained, read, strict=True)}
                for observer in observers:
                    observer.observe(by_path, optimizer.iterations)
        values = ([scope.get_current_value(each) for each in part] for part in self._variables)
        return State(*values), norm, rate


def _divide(total: jax.Array, weight: jax.Array) -> jax.Array:
    """Returns a mean, 0 where nothing is weighted."""
    return jnp.where(weight > 0, total / jnp.where(weight > 0, weight, 1.0), 0.0)
