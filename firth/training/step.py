"""One training step: forward, global loss, backward, update."""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from firth import features
from firth.training.distribution import sum_over_replicas


class StepResult(NamedTuple):
    """What one step measured over the whole batch, float32 [] each.

    Attributes:
        loss: The sum of the two below, before the update.
        mlm_loss, nsp_loss: Mean over the batch's predictions, in nats.
        gradient_norm: Global, before clipping.
        tokens: Of the batch, padding not counted.
    """

    loss: tf.Tensor
    mlm_loss: tf.Tensor
    nsp_loss: tf.Tensor
    gradient_norm: tf.Tensor
    tokens: tf.Tensor


def build_train_step(
    model,
    optimizer,
    example_sums: Callable,
    strategy: tf.distribute.Strategy,
    seed: int,
    jit_compile: bool = False,
) -> Callable:
    """Returns a compiled function: features of a (distributed) batch -> `StepResult`.

    Losses are normalised by the weights of the whole batch, not of a replica's share, so that the result
    does not depend on the number of replicas, however uneven their shares of predictions are.

    Args:
        model: Called with (features, training=True); its dropout draws from `model.seed_generator`.
        optimizer: Its `apply` sums gradients over replicas and returns their norm.
        example_sums: `firth.models.example_sums` or alike: (features, outputs) -> sums by name, [batch].
        strategy: That model and optimizer were made under.
        seed: Of dropout, which is a function of (seed, replica, updates made) and so the same after a resume.
        jit_compile: Compile the replica's part with XLA.
    """

    def replica_step(batch):
        _seed_dropout(model.seed_generator, seed, optimizer.iterations)
        with tf.GradientTape() as tape:
            sums = {name: tf.reduce_sum(value) for name, value in _sums(batch).items()}
            weights = sum_over_replicas([sums["mlm_weight_sum"], sums["nsp_weight_sum"]])
            mlm = tf.math.divide_no_nan(sums["mlm_loss_sum"], weights[0])
            nsp = tf.math.divide_no_nan(sums["nsp_loss_sum"], weights[1])
            loss = mlm + nsp
        gradients = tape.gradient(loss, trainable, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        norm = optimizer.apply(gradients, model.trainable_variables)
        # The norm is the same on all replicas, and is summed with the rest.
        share = norm / strategy.num_replicas_in_sync
        return StepResult(loss, mlm, nsp, share, count_tokens(batch))

    def _sums(batch):
        return example_sums(batch, model(batch, training=True))

    trainable = [variable.value for variable in model.trainable_variables]
    compiled = tf.function(replica_step, jit_compile=True) if jit_compile else replica_step

    @tf.function
    def step(batch):
        results = strategy.run(compiled, args=(batch,))
        return StepResult(*(strategy.reduce("SUM", value, axis=None) for value in results))

    return step


def _seed_dropout(generator, seed, step):
    replica = tf.distribute.get_replica_context().replica_id_in_sync_group
    key = tf.stack([tf.constant(seed, tf.int64), tf.cast(replica, tf.int64)])
    state = tf.random.fold_in(key, tf.cast(step, tf.int64), alg="philox")
    generator.state.assign(tf.cast(state, generator.state.dtype))


def count_tokens(batch) -> tf.Tensor:
    """Returns the number of tokens of a batch of features that are not padding, float32 []."""
    return tf.reduce_sum(tf.cast(batch[features.DOCUMENT_IDS] > 0, tf.float32))
