"""Checkpoints of a training on JAX, which are those of TensorFlow's."""

import keras
import tensorflow as tf

from firth.training.checkpoints import Checkpoints, Progress, newest_state, variables_by_name


class JaxCheckpoints(Checkpoints):
    """Checkpoints of variables on JAX, in the form and by the names that `Checkpoints` gives TensorFlow's.

    A run that was started on one backend therefore goes on on the other.
    """

    def __init__(self, directory: str, model: keras.Model, optimizer: keras.optimizers.Optimizer) -> None:
        self._on_jax = variables_by_name(model, optimizer)
        saved = newest_state(directory)
        if saved is None:
            raise ValueError(f"{directory} holds no checkpoint to begin with")
        # JAX has integers of 32 bits where TensorFlow has those of 64.
        with tf.device("CPU:0"):
            mirrors = {
                name: tf.Variable(tf.zeros(saved.shapes[name], saved.dtypes[name])) for name in self._on_jax
            }
        super().__init__(directory, mirrors)

    def start(self, progress: Progress) -> str:  # noqa: D102
        # One is written at a time, from its own copy.
        self.wait()
        for name, variable in self._on_jax.items():
            mirror = self._variables[name]
            value = keras.ops.convert_to_numpy(variable.value)
            mirror.assign(value.astype(mirror.dtype.as_numpy_dtype))
        return super().start(progress)

    def restore(self) -> Progress:  # noqa: D102
        progress = super().restore()
        for name, variable in self._on_jax.items():
            variable.assign(self._variables[name].numpy().astype(variable.dtype))
        return progress
