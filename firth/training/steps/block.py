"""A block of training steps: one compiled function, between whose steps nothing is read from the device."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.training.steps.step import StepResult


class Block(NamedTuple):
    """What a block of steps has measured, on the host.

    Attributes:
        results: Measurements of each step.
        example_ids: Example ids of each step that this process has read, int64 [steps, rows].
    """

    results: Sequence[StepResult]
    example_ids: npt.NDArray[np.int64]


def build_block(
    step: Callable[..., Any], losses: Sequence[str], strategy: tf.distribute.Strategy
) -> Callable[[Iterator[Any], int], Block]:
    """Returns a function that makes the next steps of an iterator, and then reads what they measured.

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
