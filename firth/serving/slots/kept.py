"""Tensors that an exported model keeps between requests."""

import uuid
from typing import Any

import tensorflow as tf


class KeptTensor(tf.saved_model.experimental.TrackableResource):
    """A variable that starts at zero when a model is loaded, and takes no room in its checkpoint."""

    def __init__(self, spec: tf.TensorSpec) -> None:
        super().__init__()
        self._spec = spec
        # In a session variables of the same name are the same one.
        self._name = f"kept_{uuid.uuid4().hex}"

    def _create_resource(self) -> tf.Tensor:
        return tf.raw_ops.VarHandleOp(dtype=self._spec.dtype, shape=self._spec.shape, shared_name=self._name)

    def _initialize(self) -> None:
        self.assign(tf.zeros(self._spec.shape, self._spec.dtype))

    def read(self) -> tf.Tensor:
        """Returns the value."""
        value = tf.raw_ops.ReadVariableOp(resource=self.resource_handle, dtype=self._spec.dtype)
        return tf.ensure_shape(value, self._spec.shape)

    def assign(self, value: tf.Tensor) -> None:
        """Puts another value in its place."""
        tf.raw_ops.AssignVariableOp(resource=self.resource_handle, value=value)


class KeptTensors:
    """A nest of tensors that an exported model keeps between requests.

    Attributes:
        variables: Variables, which the model must track.
    """

    def __init__(self, specs: Any) -> None:
        self._structure = specs
        self.variables = [KeptTensor(each) for each in tf.nest.flatten(specs)]

    def read(self) -> Any:
        """Returns the values, a nest of tensors."""
        return tf.nest.pack_sequence_as(self._structure, [each.read() for each in self.variables])

    def assign(self, values: Any) -> None:
        """Puts other values in their place."""
        for variable, value in zip(self.variables, tf.nest.flatten(values), strict=True):
            variable.assign(value)
