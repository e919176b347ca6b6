"""One training step: forward, global loss, backward, update."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from firth import features
from firth.models import example_sums
from firth.training.distribution import sum_over_replicas


class StepResult(NamedTuple):
    """Measurements of one step over the whole batch, float32 [] each.

    Attributes:
        loss: Weighted sum of the losses, and what the model's layers add to it, before the update.
        losses: Losses by name, each the mean over the batch's predictions, in nats.
        gradient_norm: Global norm of the gradients, before clipping.
        tokens: Number of tokens of the batch, padding not counted.
    """

    loss: tf.Tensor
    losses: dict[str, tf.Tensor]
    gradient_norm: tf.Tensor
    tokens: tf.Tensor


def build_train_step(
    model: keras.Model,
    optimizer: keras.optimizers.Optimizer,
    losses: Mapping[str, float],
    strategy: tf.distribute.Strategy,
    seed: int,
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
    """

    def replica_step(batch: Mapping[str, tf.Tensor]) -> StepResult:
        _seed_draws(model.seed_generator, seed, optimizer.iterations)
        # Weights that are not trained are not watched, so that nothing is computed for their gradients.
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(trainable)
            sums = example_sums(model(batch, training=True))
            sums = {name: tf.reduce_sum(value) for name, value in sums.items()}
            weights = sum_over_replicas([sums[f"{name}_weight_sum"] for name in losses])
            means = {
                name: tf.math.divide_no_nan(sums[f"{name}_loss_sum"], weight)
                for name, weight in zip(losses, weights)
            }
            loss = tf.add_n([factor * means[name] for name, factor in losses.items()])
            # What layers and weights add to it is the same on all replicas, whose losses are summed.
            loss += sum(model.losses) / strategy.num_replicas_in_sync
        gradients = tape.gradient(loss, trainable, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        norm = optimizer.apply(gradients, model.trainable_variables)
        if observers:
            read = optimizer.clipped(sum_over_replicas(gradients), norm)
            by_path = dict(zip(paths, read, strict=True))
            for observer in observers:
                observer.observe(by_path, optimizer.iterations)
        # The norm is the same on all replicas, and is summed with the rest.
        share = norm / strategy.num_replicas_in_sync
        return StepResult(loss, means, share, count_tokens(batch))

    trainable = [variable.value for variable in model.trainable_variables]
    paths = [variable.path for variable in model.trainable_variables]
    observers = model.added.observers

    @tf.function(autograph=False)
    def step(batch: Mapping[str, tf.Tensor]) -> StepResult:
        results = strategy.run(replica_step, args=(batch,))
        return tf.nest.map_structure(lambda value: strategy.reduce("SUM", value, axis=None), results)

    return step


def _seed_draws(generator: keras.random.SeedGenerator, seed: int, step: tf.Tensor) -> None:
    key = tf.constant([seed, 0], tf.int64)
    state = tf.random.fold_in(key, tf.cast(step, tf.int64), alg="philox")
    generator.state.assign(tf.cast(state, generator.state.dtype))


def count_tokens(batch: Mapping[str, tf.Tensor]) -> tf.Tensor:
    """Returns the number of tokens of a batch that are not padding, float32 [].

    Those that a decoder reads next to an encoder are counted with those of the encoder.

    Args:
        batch: Features of the batch.
    """
    read = [batch[name] for name in (features.DOCUMENT_IDS, features.DECODER_DOCUMENT_IDS) if name in batch]
    return tf.add_n([tf.reduce_sum(tf.cast(ids > 0, tf.float32)) for ids in read])
