"""A signature of an exported model, with all that is said about it elsewhere."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Signature:
    """A signature that reads strings.

    Attributes:
        function: (served, one string [batch] tensor for each input) -> tensors by name.
        invariant: The outputs that must not depend on the batch. What an argmax or a ranking decides is left
            out: two of nearly the same score may change places.
        inputs: The names of its inputs.
        example: A text for each input to ask a model with, for people; empty to propose none.
    """

    function: Callable[..., dict[str, tf.Tensor]]
    invariant: tuple[str, ...]
    inputs: tuple[str, ...] = ("text",)
    example: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """Returns what an exported model says about this signature, fit for JSON.

        Example:

        >>> Signature(print, ("embedding",), example={"text": "A sentence."}).describe()
        {'inputs': ['text'], 'invariant': ['embedding'], 'example': {'text': 'A sentence.'}}
        """
        return {
            "inputs": list(self.inputs),
            "invariant": list(self.invariant),
            "example": dict(self.example),
        }
