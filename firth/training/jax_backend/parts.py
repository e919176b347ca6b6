"""The parts of a training on JAX: steps, checkpoints and held-out losses."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.models import example_sums
from firth.recipes.run.run_recipe import RunRecipe
from firth.training.backends import BackendParts
from firth.training.checkpoints import Checkpoints, Progress, newest_state, variables_by_name
from firth.training.held_out import Compiled, Features, first_documents, first_rows, means_of, sampler
from firth.training.jax_backend.devices import place_batches, replicas, use_devices
from firth.training.jax_backend.gradients import Batch, JaxDifferentiator, Values
from firth.training.step import Block, StepResult, count_tokens, draw_state
from firth.training.strategies import prepare_devices


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
    """A step of a model, as `firth.training.step.build_train_step` has it on TensorFlow.

    On several devices the batch is divided among them by XLA, so that all values here are of the whole batch.
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
        """Returns the values after a step, and its measurements.

        Args:
            draws: State of the random generator of the batch, uint32 [2].
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


# Most steps of a call of the compiled function: enough that its start costs nothing, and few enough that
# their batches, which it receives together, fit into memory.
_MOST_STEPS_OF_CALL = 16


def build_jax_block(
    recipe: RunRecipe, model: keras.Model, optimizer: keras.optimizers.Optimizer
) -> Callable[[Iterator[Any], int], Block]:
    """Returns a function that makes the next steps of an iterator, and then reads their measurements.

    Its arguments are an iterator over pairs of example ids, int64 [rows], and features, and the number of
    steps. It compiles once for each shape of the features, whatever the number. Values of the last call are
    given to the next one, which writes over them.
    """
    losses = list(recipe.goal.losses)
    parts = recipe.training.gradient_accumulation_steps
    step = TrainStep(model, optimizer, JaxDifferentiator(model, recipe.goal.losses, parts, replicas()))
    # The values stay where they are, divided or not.
    placed = jax.tree.map(lambda value: value.sharding, step.read())
    run = jax.jit(_calls(step, losses), donate_argnums=0, out_shardings=(placed, None))
    capacity = min(recipe.training.steps_per_execution or _MOST_STEPS_OF_CALL, _MOST_STEPS_OF_CALL)

    def block(iterator: Iterator[Any], steps: int) -> Block:
        first, state = int(optimizer.iterations.value), step.read()
        ids, measured = [], []
        for begin in range(0, steps, capacity):
            count = min(capacity, steps - begin)
            batches = [next(iterator) for _ in range(count)]
            ids += [each.numpy() for each, _ in batches]
            draws = _draws(recipe.seed, first + begin, count, capacity)
            # Nothing is read from the device here, so that the next batches are made meanwhile.
            state, values = run(state, _stacked([each for _, each in batches], capacity), draws, count)
            measured.append(values)
        step.write(state)
        rows = np.concatenate([np.asarray(each) for each in measured])[:steps]
        return Block([_result(row, losses) for row in rows.tolist()], np.stack(ids))

    return block


def _calls(step: TrainStep, losses: list[str]) -> Callable[..., tuple[State, jax.Array]]:
    """Returns a function that makes the first of some stacked batches' steps."""

    def run(
        state: State, batches: Mapping[str, jax.Array], draws: jax.Array, count: jax.Array
    ) -> tuple[State, jax.Array]:
        def body(index: jax.Array, carried: tuple[State, jax.Array]) -> tuple[State, jax.Array]:
            state, measured = carried
            batch = {name: value[index] for name, value in batches.items()}
            state, made = step(state, batch, draws[index])
            values = [made.loss, *(made.losses[name] for name in losses), *made[2:]]
            return state, measured.at[index].set(jnp.stack(values))

        measured = jnp.zeros((draws.shape[0], len(losses) + 4), jnp.float32)
        return jax.lax.fori_loop(0, count, body, (state, measured))

    return run


def _result(row: list[float], losses: list[str]) -> StepResult:
    loss, *means, norm, tokens, rate = row
    return StepResult(loss, dict(zip(losses, means, strict=True)), norm, tokens, rate)


def _draws(seed: int, first: int, count: int, capacity: int) -> npt.NDArray[np.uint32]:
    draws = np.zeros((capacity, 2), np.uint32)
    for place in range(count):
        draws[place] = draw_state(seed, first + place).numpy().astype(np.uint32)
    return draws


def _stacked(batches: list[Mapping[str, Any]], capacity: int) -> dict[str, jax.Array]:
    """Returns features [capacity, rows, ...], of which those after the batches are not read."""
    stacked = {}
    for name, example in batches[0].items():
        values = np.zeros((capacity, *example.shape), example.dtype.as_numpy_dtype)
        for place, batch in enumerate(batches):
            values[place] = batch[name].numpy()
        stacked[name] = values
    return place_batches(stacked)


class JaxHeldOut:
    """The held-out losses of a model on JAX, as `firth.training.held_out.HeldOut` has them, and samples.

    Raises:
        RowsError: naming a file that cannot be read, or ends too early.
    """

    def __init__(
        self, model: keras.Model, tokenizer: Any, recipe: RunRecipe, patterns: Sequence[str]
    ) -> None:
        self._rows = first_rows(patterns, recipe.training.eval_rows)
        self._model, self._tokenizer, self._recipe = model, tokenizer, recipe
        self._sums_of = jax.jit(self._sums)
        self._batches: list[dict[str, npt.NDArray[Any]]] = []
        self._samples: Callable[[], list[dict[str, Any]]] | None = None

    def __call__(self) -> dict[str, Any]:
        """Returns `held_out_loss`, `held_out_<loss>_loss` of each loss, in nats, and `samples`.

        Where there are no rows, nothing is returned.
        """
        if not self._rows:
            return {}
        self._batches = self._batches or self._read()
        model = self._model
        values = [
            [each.value for each in part]
            for part in (model.trainable_variables, model.non_trainable_variables)
        ]
        parts = [self._sums_of(*values, batch) for batch in self._batches]
        sums = {name: sum(float(part[name]) for part in parts) for name in parts[0]}
        self._samples = self._samples or self._sampler()
        return {**means_of(sums, self._recipe), "samples": self._samples()}

    def _sampler(self) -> Callable[[], list[dict[str, Any]]]:
        from firth.serving.served_model import Served

        served = Served(self._model, self._tokenizer, self._recipe)
        return sampler(served, first_documents(self._rows), self._compiled)

    def _compiled(self, function: Callable[[Mapping[str, Any]], Any]) -> Compiled:
        """Returns a function of features that calls the model by its weights at each call."""
        variables = self._model.variables

        @jax.jit
        def run(values: list[jax.Array], features: Features) -> Any:
            pairs = list(zip(variables, values, strict=True))
            with keras.StatelessScope(state_mapping=pairs):
                return function(features)

        return lambda features: np.asarray(run([each.value for each in variables], features))

    def _read(self) -> list[dict[str, npt.NDArray[Any]]]:
        from firth.serving.evaluate import features_reader
        from firth.serving.served_model import Served

        read = tf.function(
            features_reader(Served(self._model, self._tokenizer, self._recipe)),
            input_signature=[tf.TensorSpec([None], tf.string)],
            autograph=False,
        )
        size = self._recipe.evaluation.batch_size
        starts = range(0, len(self._rows), size)
        made = [read(tf.constant(self._rows[start : start + size])) for start in starts]
        return [{name: value.numpy() for name, value in batch.items()} for batch in made]

    def _sums(
        self, trained: list[jax.Array], others: list[jax.Array], batch: Mapping[str, jax.Array]
    ) -> dict[str, jax.Array]:
        predictions, _ = self._model.stateless_call(trained, others, batch, training=False)
        return {name: jnp.sum(value) for name, value in example_sums(predictions).items()}


class JaxCheckpoints(Checkpoints):
    """Checkpoints of variables on JAX, in the form and by the names that `Checkpoints` gives TensorFlow's.

    A run that was started on one backend can therefore resume on the other.
    """

    def __init__(self, directory: str, model: keras.Model, optimizer: keras.optimizers.Optimizer) -> None:
        self._on_jax = variables_by_name(model, optimizer)
        saved = newest_state(directory)
        if saved is None:
            raise ValueError(f"{directory} holds no checkpoint to begin with")
        # JAX has integers of 32 bits where TensorFlow has those of 64.
        with tf.device("CPU:0"):
            mirrors = {
                name: tf.Variable(tf.zeros(saved.shapes[name], saved.dtypes[name])) for name in self._on_jax
            }
        super().__init__(directory, mirrors)

    def start(self, progress: Progress) -> str:  # noqa: D102
        # One is written at a time, from its own copy.
        self.wait()
        for name, variable in self._on_jax.items():
            mirror = self._variables[name]
            value = keras.ops.convert_to_numpy(variable.value)
            mirror.assign(value.astype(mirror.dtype.as_numpy_dtype))
        return super().start(progress)

    def restore(self) -> Progress:  # noqa: D102
        progress = super().restore()
        for name, variable in self._on_jax.items():
            variable.assign(self._variables[name].numpy().astype(variable.dtype))
        return progress


def _prepare(recipe: RunRecipe) -> None:
    prepare_devices(recipe.training)
    use_devices(recipe)


JAX = BackendParts(
    "jax",
    False,
    _prepare,
    lambda folder, model, optimizer, _: JaxCheckpoints(folder, model, optimizer),
    lambda recipe, model, optimizer, _: build_jax_block(recipe, model, optimizer),
    JaxHeldOut,
)
