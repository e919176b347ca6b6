"""Values that hold tensors, for functions that have to know all tensors which they are given."""

import copy
from typing import TypeVar

from firth.layers.elements.types import Tensor

Held = TypeVar("Held", bound="TensorHolder")


class TensorHolder:
    """A value that layers pass on, which is made of tensors and of what is known when a graph is made.

    Attributes:
        tensors: Its tensors, a tuple.
    """

    tensors: tuple[Tensor, ...]

    def with_tensors(self: Held, tensors: tuple[Tensor, ...]) -> Held:
        """Returns the same with other tensors."""
        made = copy.copy(self)
        made.tensors = tensors
        return made
