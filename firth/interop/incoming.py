"""The weights of another library's model on their way into a bundle."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy.typing as npt

from firth.interop.read import Read


@dataclasses.dataclass(frozen=True)
class Incoming:
    """What a model brings along.

    Attributes:
        read: What was read, and what is fresh.
        weights: Paths and weights, all but the fresh ones, each made when it is asked for.
    """

    read: Read
    weights: Iterable[tuple[str, npt.NDArray[Any]]]
