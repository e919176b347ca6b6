"""Parts that the workers of Model Garden share. Its legacy Keras and Keras 3 need processes of their own."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import importlib.metadata
import platform
from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tf_keras
from official.modeling.optimization.legacy_adamw import AdamWeightDecay
from official.nlp.modeling import networks

Batch = dict[str, tf.Tensor]


def bert_encoder(vocabulary: int, layers: int, width: int, heads: int, dropout: float = 0.1):
    """Returns an encoder of BERT's shape."""
    return networks.BertEncoderV2(
        vocab_size=vocabulary,
        hidden_size=width,
        num_layers=layers,
        num_attention_heads=heads,
        max_sequence_length=512,
        type_vocab_size=2,
        inner_dim=4 * width,
        output_dropout=dropout,
        attention_dropout=dropout,
    )


def encoder_inputs(batch: Batch) -> Batch:
    """Returns the inputs of an encoder under the names that Model Garden has for them."""
    return {
        "input_word_ids": batch["token_ids"],
        "input_mask": batch["token_ids_mask"],
        "input_type_ids": batch["segment_ids"],
    }


def mean_loss(labels: tf.Tensor, logits: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Returns the mean cross-entropy, by weights."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.cast(logits, tf.float32))
    return tf.math.divide_no_nan(tf.reduce_sum(losses * weights), tf.reduce_sum(weights))


class Steps:
    """Compiled work on one model: without XLA once for all shapes, with XLA once for each.

    Args:
        model: Object with `trainable_variables`.
        rate: Learning rate of AdamW.
        jit_compile: If true, XLA compiles the whole step, the optimizer's part too.
    """

    def __init__(self, model: Any, rate: float, jit_compile: bool):
        self._model, self._jit_compile = model, jit_compile
        self._optimizer = AdamWeightDecay(rate, epsilon=1e-6, weight_decay_rate=0.01, gradient_clip_norm=1.0)
        self._compiled: dict[str, Callable] = {}
        self.versions = {
            "python": platform.python_version(),
            "tensorflow": tf.__version__,
            "tf_keras": tf_keras.__version__,
            "tf-models-official": importlib.metadata.version("tf-models-official"),
        }

    def run(self, work: str, function: Callable[[Batch], tf.Tensor], batch: Batch) -> float:
        """Runs the compiled function of a work on a batch; returns its number."""
        if work not in self._compiled:
            signature = {
                name: tf.TensorSpec([None] * len(value.shape), value.dtype) for name, value in batch.items()
            }
            self._compiled[work] = tf.function(
                function,
                input_signature=None if self._jit_compile else [signature],
                jit_compile=self._jit_compile,
            )
        return float(self._compiled[work](batch))

    def run_all(self, work: str, function: Callable[[Batch], tf.Tensor], given: list[Batch]) -> None:
        """Runs a work once on a batch of each shape, so that no compilation is measured later."""
        shapes = {
            tuple((name, *value.shape) for name, value in sorted(batch.items())): batch for batch in given
        }
        for batch in shapes.values():
            self.run(work, function, batch)

    def train(self, loss: Callable[[Batch], tf.Tensor], batch: Batch) -> tf.Tensor:
        """Returns the loss of a step: forward, backward, clipping and AdamW."""
        with tf.GradientTape() as tape:
            found = loss(batch)
        weights = self._model.trainable_variables
        pairs = zip(tape.gradient(found, weights), weights)
        # The pooler of the encoder is not a part of each loss.
        self._optimizer.apply_gradients([pair for pair in pairs if pair[0] is not None])
        return found
