"""The training step (forward, global loss, backward, update) and blocks of steps in one compiled function."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf
from keras import ops

from firth import features
from firth.layers.elements.types import Tensor
from firth.models import example_sums
from firth.training.workers import sum_over_replicas

Batch = Mapping[str, tf.Tensor]


class StepResult(NamedTuple):
    """Measurements of one step over the whole batch, float32 [] each.

    Attributes:
        loss: Weighted sum of the losses and of those that the model's layers add, before the update.
        losses: Losses by name, each the mean over the batch's predictions, in nats.
        gradient_norm: Global norm of the gradients, before clipping.
        tokens: Number of tokens of the batch, padding not counted.
        learning_rate: Learning rate of the update.
    """

    loss: tf.Tensor
    losses: dict[str, tf.Tensor]
    gradient_norm: tf.Tensor
    tokens: tf.Tensor
    learning_rate: tf.Tensor


class Block(NamedTuple):
    """The measurements of a block of steps, on the host.

    Attributes:
        results: Measurements of each step.
        example_ids: Example ids of each step that this process has read, int64 [steps, rows].
    """

    results: Sequence[StepResult]
    example_ids: npt.NDArray[np.int64]


def build_train_step(
    model: keras.Model,
    optimizer: keras.optimizers.Optimizer,
    losses: Mapping[str, float],
    strategy: tf.distribute.Strategy,
    seed: int,
    parts: int = 1,
    jit_compile: bool = False,
) -> Callable[..., Any]:
    """Returns a compiled function from the features of a (distributed) batch to a `StepResult`.

    Losses are normalised by the weights of the whole batch, not of a replica's share, so that the result does
    not depend on the number of replicas, however uneven their shares of predictions are.

    Args:
        model: Model that is called with (features, training=True) and returns `Predictions` by name of the
            loss. Draws for an example follow from its `firth.features.NOISE_KEYS`; draws for a batch, and all
            draws without these keys, are made from `model.seed_generator`. Its `added.observers` act after
            each update.
        optimizer: Optimizer whose `apply` sums gradients over replicas and returns their norm; observers
            get them as its `clipped` returns them.
        losses: Weights in the sum that is minimised, by name of the loss.
        strategy: Distribution strategy that model and optimizer were made under.
        seed: Seed of draws for a batch, which follow from (seed, updates made): they are the same on all
            replicas and after a resume.
        parts: Number of parts of a replica's rows whose gradients are computed one after another.
        jit_compile: True to compile the step by XLA.
    """
    replicas = strategy.num_replicas_in_sync
    paths = [variable.path for variable in model.trainable_variables]
    observers = model.added.observers

    def seed_draws() -> None:
        _seed_draws(model.seed_generator, seed, optimizer.iterations)

    differentiator = Differentiator(model, losses, replicas, seed_draws)

    def replica_step(batch: Mapping[str, tf.Tensor]) -> StepResult:
        made = differentiator.whole(batch) if parts == 1 else differentiator.accumulated(batch, parts)
        rate = tf.cast(optimizer.learning_rate, tf.float32)
        norm = optimizer.apply(made.gradients, model.trainable_variables)
        if observers:
            read = optimizer.clipped(sum_over_replicas(made.gradients), norm)
            by_path = dict(zip(paths, read, strict=True))
            for observer in observers:
                observer.observe(by_path, optimizer.iterations)
        loss, means, tokens = sum_over_replicas((made.loss, made.means, count_tokens(batch)))
        return StepResult(loss, means, norm, tokens, rate)

    compiled = tf.function(replica_step, autograph=False, jit_compile=True) if jit_compile else replica_step

    @tf.function(autograph=False)
    def step(batch: Mapping[str, tf.Tensor]) -> StepResult:
        results = strategy.run(compiled, args=(batch,))
        # They are the same on all replicas.
        return tf.nest.map_structure(lambda value: strategy.experimental_local_results(value)[0], results)

    return step


def build_block(
    step: Callable[..., Any], losses: Sequence[str], strategy: tf.distribute.Strategy
) -> Callable[[Iterator[Any], int], Block]:
    """Returns a function that makes the next steps of an iterator, and then reads their measurements.

    Its arguments are an iterator over pairs of example ids, int64 [rows], and features, divided among the
    replicas, and the number of steps. It compiles once for each shape of the features, whatever the number.

    Args:
        step: Function from the features of a batch to a `StepResult`; see `build_train_step`.
        losses: Names of the losses that a step measures.
        strategy: Distribution strategy of the step.
    """
    zero = 0.0
    template = StepResult(zero, dict.fromkeys(losses, zero), zero, zero, zero)
    columns = len(tf.nest.flatten(template))

    @tf.function(autograph=False)
    def run(iterator: Iterator[Any], steps: tf.Tensor) -> list[tf.Tensor]:
        def body(index: tf.Tensor, arrays: list[tf.TensorArray]) -> tuple[tf.Tensor, list[tf.TensorArray]]:
            example_ids, features = next(iterator)
            ids = tf.concat(strategy.experimental_local_results(example_ids), axis=0)
            values = [ids, *tf.nest.flatten(step(features))]
            return index + 1, [each.write(index, value) for each, value in zip(arrays, values, strict=True)]

        arrays = [tf.TensorArray(dtype, steps) for dtype in (tf.int64, *columns * [tf.float32])]
        _, arrays = tf.while_loop(lambda index, _: index < steps, body, (0, arrays))
        return [each.stack() for each in arrays]

    def block(iterator: Iterator[Any], steps: int) -> Block:
        example_ids, *measured = (values.numpy() for values in run(iterator, tf.constant(steps)))
        rows = zip(*(values.tolist() for values in measured), strict=True)
        return Block([tf.nest.pack_sequence_as(template, row) for row in rows], example_ids)

    return block


def draw_state(seed: int, step: tf.Tensor) -> tf.Tensor:
    """Returns the state of the random generator of a batch, int64 [2].

    Args:
        seed: Seed of the recipe.
        step: Number of updates made, an integer scalar.
    """
    key = tf.constant([seed, 0], tf.int64)
    return tf.random.fold_in(key, tf.cast(step, tf.int64), alg="philox")


def count_tokens(batch: Mapping[str, Tensor]) -> Tensor:
    """Returns the number of tokens of a batch that are not padding, float32 [].

    Those that a decoder reads next to an encoder are counted with those of the encoder.

    Args:
        batch: Features of the batch.
    """
    read = [batch[name] for name in (features.DOCUMENT_IDS, features.DECODER_DOCUMENT_IDS) if name in batch]
    return sum(ops.sum(ops.cast(ids > 0, "float32")) for ids in read)


class BatchGradients(NamedTuple):
    """Gradients of a replica's part of a batch, which are to be summed over the replicas, like all sums here.

    Attributes:
        gradients: Gradient of each trainable variable.
        loss: Minimised loss, float32 [].
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
        return sum_parts(lambda each: self._differentiate(each, lambda _: weights, parts), start)

    def _weights(self, batch: Batch) -> list[tf.Tensor]:
        """Returns the weight of each loss; the rest of the pass is pruned from the graph."""
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
            # Losses added by layers and weights are the same in all replicas and parts, which are summed.
            loss += sum(self._model.losses) / (self._replicas * parts)
        gradients = tape.gradient(loss, self._trainable, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return BatchGradients([tf.convert_to_tensor(each) for each in gradients], loss, means)


def _seed_draws(generator: keras.random.SeedGenerator, seed: int, step: tf.Tensor) -> None:
    generator.state.assign(tf.cast(draw_state(seed, step), generator.state.dtype))
