"""Gradients of a scalar for a layer's weights, on whichever backend Keras runs."""

import keras
import numpy as np


def gradients(layer, compute_loss) -> dict[str, np.ndarray]:
    """Returns {path: gradient} for every trainable weight of `layer`, which `compute_loss()` must call.

    A weight that the loss does not depend on gets None on TensorFlow and zeros on JAX.
    """
    by_backend = {"tensorflow": _tensorflow_gradients, "jax": _jax_gradients, "torch": _torch_gradients}
    values = by_backend[keras.backend.backend()](layer.trainable_variables, compute_loss)
    return {
        variable.path: None if value is None else keras.ops.convert_to_numpy(value)
        for variable, value in zip(layer.trainable_variables, values)
    }


class Scalars(keras.layers.Layer):
    """Trainable numbers of any shape, to differentiate a function for its input."""

    def __init__(self, values):
        super().__init__()
        self.values = self.add_weight(shape=np.shape(values), initializer="zeros")
        self.values.assign(values)


def derivative(function, values, direction) -> np.ndarray:
    """Returns the gradient of `sum(function(values) * direction)` for `values`."""
    layer = Scalars(values)
    direction = np.asarray(direction, "float32")
    return gradients(layer, lambda: keras.ops.sum(keras.ops.multiply(function(layer.values), direction)))[
        layer.values.path
    ]


def compiled(function):
    """Returns `function` of tensors, compiled by the backend."""
    if keras.backend.backend() == "jax":
        import jax

        return jax.jit(function)
    if keras.backend.backend() == "torch":
        return function  # Run step by step.
    import tensorflow as tf

    # Layers and models hold no control flow that AutoGraph would have to rewrite.
    return tf.function(function, autograph=False)


def compiled_where_it_pays(function):
    """Returns a function for one call: TensorFlow traces for longer than it runs step by step."""
    return function if keras.backend.backend() == "tensorflow" else compiled(function)


def _tensorflow_gradients(variables, compute_loss):
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = compute_loss()
    return tape.gradient(loss, [variable.value for variable in variables])


def _torch_gradients(variables, compute_loss):
    import torch

    values = [variable.value for variable in variables]
    with torch.enable_grad():
        loss = compute_loss()
    found = torch.autograd.grad(loss, values, allow_unused=True) if values else ()
    return [None if value is None else value.detach() for value in found]


def _jax_gradients(variables, compute_loss):
    import jax

    def loss_of(values):
        with keras.StatelessScope(state_mapping=list(zip(variables, values))):
            return compute_loss()

    return jax.jit(jax.grad(loss_of))([variable.value for variable in variables])
