"""Bytes that a TensorFlow graph keeps between the forward and the backward pass."""

import math

import tensorflow as tf


def held_bytes(variables, compute_loss) -> int:
    """Returns the bytes of all tensors that are made before the loss and read after it, weights left out."""
    raw = [variable.value for variable in variables]

    @tf.function(autograph=False)
    def differentiate():
        with tf.GradientTape() as tape:
            loss = tf.identity(compute_loss(), name="the_loss")
        return tape.gradient(loss, raw)

    operations = differentiate.get_concrete_function().graph.get_operations()
    end = 1 + [operation.name for operation in operations].index("the_loss")
    before = {operation.name for operation in operations[:end]}
    read = {each.name: each for operation in operations[end:] for each in operation.inputs}
    return sum(_bytes(each) for each in read.values() if each.op.name in before)


def _bytes(tensor: tf.Tensor) -> int:
    if tensor.dtype == tf.resource or tensor.op.type == "ReadVariableOp":
        return 0
    return math.prod(tensor.shape) * tensor.dtype.size
