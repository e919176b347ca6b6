"""One training step: forward, global loss, backward, update."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import keras
import tensorflow as tf
from keras import ops

from firth import features
from firth.layers.elements.types import Tensor
from firth.training.distribution import sum_over_replicas
from firth.training.steps.gradients import Differentiator


class StepResult(NamedTuple):
    """Measurements of one step over the whole batch, float32 [] each.

    Attributes:
        loss: Weighted sum of the losses, and what the model's layers add to it, before the update.
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
        jit_compile: Whether XLA compiles the step.
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


def _seed_draws(generator: keras.random.SeedGenerator, seed: int, step: tf.Tensor) -> None:
    generator.state.assign(tf.cast(draw_state(seed, step), generator.state.dtype))


def draw_state(seed: int, step: tf.Tensor) -> tf.Tensor:
    """Returns what draws for a batch start from, int64 [2].

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
