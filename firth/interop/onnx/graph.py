"""A function of tensors that becomes a file, with all that is said about what goes in."""

import dataclasses
from collections.abc import Callable
from typing import Any

Tensors = dict[str, Any]
# A number, or a name of what changes from call to call.
Axes = tuple[int | str, ...]


@dataclasses.dataclass(frozen=True)
class Port:
    """A tensor that goes in.

    Attributes:
        axes: Axes of the tensor: numbers, or names of what changes from call to call.
        meaning: What it holds, a sentence.
        dtype: Name of the dtype.
    """

    axes: Axes
    meaning: str
    dtype: str = "int32"


@dataclasses.dataclass(frozen=True)
class Graph:
    """A function that becomes a file.

    Attributes:
        name: Name of the file, without its ending.
        inputs: What goes in, by name.
        function: Function from tensors by name to tensors by name.
    """

    name: str
    inputs: dict[str, Port]
    function: Callable[[Tensors], Tensors]
