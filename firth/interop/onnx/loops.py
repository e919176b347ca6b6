"""Loops over time as tf2onnx reads them."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import keras


@contextlib.contextmanager
def plain_scans() -> Iterator[None]:
    """Makes Keras scan by a loop that writes each step's values once, at the number of the step.

    Keras's own also keeps what it carries in lists that it writes again and again: ONNX has no such lists.
    """
    with mock.patch.object(keras.ops, "scan", _scan):
        yield


def _scan(step: Callable[..., Any], start: Any, numbers: Any, reverse: bool = False) -> tuple[Any, Any]:
    """Returns what `keras.ops.scan` does, of a function that returns what it carries."""
    import tensorflow as tf

    count = tf.shape(numbers)[0]
    carried = tuple(tf.convert_to_tensor(each) for each in start)
    written = tuple(
        tf.TensorArray(each.dtype, count, element_shape=each.shape, infer_shape=True) for each in carried
    )

    def body(place: Any, carried: Any, written: Any) -> tuple[Any, Any, Any]:
        made, _ = step(carried, numbers[count - 1 - place if reverse else place])
        return place + 1, tuple(made), tuple(each.write(place, value) for each, value in zip(written, made))

    _, carried, written = tf.while_loop(
        lambda place, *_: place < count, body, (tf.constant(0), carried, written), maximum_iterations=None
    )
    values = (each.stack() for each in written)
    return carried, tuple(tf.reverse(each, [0]) if reverse else each for each in values)
