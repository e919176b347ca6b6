"""The loss of a model by the type of its stored weights, measured on held-out rows."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from firth.features import BYTES_SUM, TEXT_LOSS_SUM, is_over_vocabulary
from firth.serving.evaluate import evaluator
from firth.serving.served_model import Served
from firth.serving.weights import HeldWeights, PackedWeights, StreamedWeights

# Rows that are enough to see a difference, and cost a minute at most.
HELD_OUT_ROWS = 64


def described_weights(
    served: Served, weights: HeldWeights | PackedWeights | StreamedWeights, rows: Sequence[bytes]
) -> dict[str, Any]:
    """Returns the description of an export's weights, fit for JSON.

    Returns:
        held_out: If they were measured, `quantity` (`bits_per_byte`, or `loss`, that of the main loss in nats
            for each answer), its value with the weights as they are stored and in float32 (`stored`,
            `float32`), and the number of `rows`.
    """
    found = {
        "type": served.recipe.export.weights,
        "bytes": sum(_bytes(each.shape, each.dtype) for each in weights.variables),
        "float32_bytes": sum(_bytes(each.shape, each.dtype) for each in served.model.variables),
    }
    if not rows or not isinstance(weights, PackedWeights):
        return found
    # Both see the same rows, masks and pairs.
    quantity, stored = _held_out(served, weights.bind, rows)
    _, whole = _held_out(served, lambda function: function, rows)
    held_out = {"quantity": quantity, "stored": stored, "float32": whole, "rows": len(rows)}
    return {**found, "held_out": held_out}


def _bytes(shape: Any, dtype: Any) -> int:
    return math.prod(shape) * int(tf.as_dtype(dtype).size)


def _held_out(
    served: Served, bind: Callable[[Callable[..., Any]], Callable[..., Any]], rows: Sequence[bytes]
) -> tuple[str, float]:
    recipe = served.recipe
    over_vocabulary = is_over_vocabulary(recipe.goal.loss_classes)
    # The losses of a unigram model are not read.
    unigram = np.zeros(recipe.tokenizer.vocabulary_size, np.float32) if over_vocabulary else None
    evaluate = tf.function(bind(evaluator(served, unigram, answering=False)), autograph=False)
    # It takes a batch at a time.
    sums = {name: float(np.sum(each)) for name, each in evaluate(tf.constant(list(rows))).items()}
    if over_vocabulary:
        return "bits_per_byte", sums[TEXT_LOSS_SUM] / math.log(2) / sums[BYTES_SUM]
    loss = recipe.goal.main_loss
    return "loss", sums[f"{loss}_loss_sum"] / sums[f"{loss}_weight_sum"]
