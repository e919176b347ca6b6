"""Signatures whose inputs are tensors of any kind, with the description of each input."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from firth.serving.signature import Output


class TensorSignature(NamedTuple):
    """The description of a signature on tensors.

    Attributes:
        meaning: Its purpose, a sentence.
        inputs: Its inputs by name, in their order.
        outputs: Its outputs by name.
    """

    meaning: str
    inputs: Mapping[str, Output]
    outputs: Mapping[str, Output]

    def describe(self) -> dict[str, Any]:
        """Returns the description, fit for JSON."""
        return {
            "meaning": self.meaning,
            "inputs": {name: each.describe() for name, each in self.inputs.items()},
            "outputs": {name: each.describe() for name, each in self.outputs.items()},
        }

    @property
    def specs(self) -> list[tf.TensorSpec]:
        """Dtypes and shapes of the inputs, in their order; an axis with a name has any size."""
        return [
            tf.TensorSpec([each if isinstance(each, int) else None for each in one.shape], one.dtype, name)
            for name, one in self.inputs.items()
        ]


def check(is_valid: tf.Tensor, message: str) -> tf.Operation:
    """Returns an operation that fails with a message where a value is not valid."""
    return tf.debugging.Assert(tf.reduce_all(is_valid), [message])
