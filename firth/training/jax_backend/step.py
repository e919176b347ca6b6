"""One training step as a pure function: forward, loss, backward, update."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import keras

from firth.training.jax_backend.gradients import Batch, JaxDifferentiator, Values
from firth.training.steps import StepResult, count_tokens


class State(NamedTuple):
    """Values of all variables of a run.

    Attributes:
        trained: Values of the weights that are trained.
        others: Values of the model's other variables.
        of_optimizer: Values of the optimizer's variables.
    """

    trained: Values
    others: Values
    of_optimizer: Values


class _Variables(NamedTuple):
    """The variables that a `State` has the values of, in the same order."""

    trained: list[keras.Variable]
    others: list[keras.Variable]
    of_optimizer: list[keras.Variable]


class TrainStep:
    """A step of a model, as `firth.training.steps.build_train_step` has it on TensorFlow.

    On several devices the batch is divided among them by XLA, so that all here is of the whole batch.
    """

    def __init__(
        self, model: keras.Model, optimizer: keras.optimizers.Optimizer, differentiate: JaxDifferentiator
    ) -> None:
        self._model, self._optimizer, self._differentiate = model, optimizer, differentiate
        self._variables = _Variables(
            model.trainable_variables, model.non_trainable_variables, optimizer.variables
        )
        draws = id(model.seed_generator.state)
        self._place_of_draws = [id(each) for each in self._variables.others].index(draws)

    def read(self) -> State:
        """Returns the values of the variables."""
        return State(*([each.value for each in part] for part in self._variables))

    def write(self, state: State) -> None:
        """Sets the variables."""
        for variables, values in zip(self._variables, state, strict=True):
            for variable, value in zip(variables, values, strict=True):
                variable.assign(value)

    def __call__(self, state: State, batch: Batch, draws: jax.Array) -> tuple[State, StepResult]:
        """Returns the values after a step, and what it measured.

        Args:
            draws: State of the generator that draws for a batch are made from, uint32 [2].
        """
        others = list(state.others)
        others[self._place_of_draws] = draws
        made, others = self._differentiate(state.trained, others, batch)
        updated, norm, rate = self._update(State(state.trained, others, state.of_optimizer), made.gradients)
        return updated, StepResult(made.loss, made.means, norm, count_tokens(batch), rate)

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
