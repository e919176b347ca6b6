"""The type of a case in the table of layers, and the inputs that cases share."""

import dataclasses
from collections.abc import Callable

import numpy as np

BATCH, LENGTH, WIDTH, VOCABULARY = 3, 6, 8, 11


@dataclasses.dataclass(frozen=True)
class Case:
    """One layer of the shared checklist.

    Attributes:
        make: The layer class.
        arguments: Of its constructor.
        inputs: A function of a seed that returns the call's arguments, arrays with the batch first, or None.
        weights: How many weights it has.
        parameters: How many numbers they hold.
        output_shape: For `inputs`.
        batched: Whether the output has a batch axis.
        shared: Positions among the inputs that have no batch axis.
        float32_output: Whether the output is float32 whatever the dtype policy.
        named: Arguments of the call, and of `compute_output_shape`, that are not tensors.
        constant_start: Whether all weights start from the same values whatever the seed.
    """

    make: Callable
    arguments: dict
    inputs: Callable[[int], tuple]
    weights: int
    parameters: int
    output_shape: tuple
    batched: bool = True
    shared: tuple = ()
    float32_output: bool = False
    constant_start: bool = False
    named: dict = dataclasses.field(default_factory=dict)


def hidden(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(BATCH, LENGTH, WIDTH)).astype("float32")


def ids(seed: int, below: int, count: int = LENGTH) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, below, (BATCH, count)).astype("int32")


def document_ids() -> np.ndarray:
    return np.array([[1, 1, 2, 2, 2, 0], [1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0]], "int32")


def bias() -> np.ndarray:
    documents = document_ids()
    return np.where(documents[:, None, :, None] == documents[:, None, None, :], 0.0, -1e9).astype("float32")


def positions() -> np.ndarray:
    return np.array([[0, 1, 0, 1, 2, 0], [0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 3, 4]], "int32")


def angles(head_width: int) -> np.ndarray:
    found = positions()[..., None] / 10.0 ** np.arange(head_width // 2)
    return np.stack([np.cos(found), np.sin(found)], axis=1).astype("float32")


def relative(rows: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(rows, WIDTH)).astype("float32")


def differs() -> np.ndarray:
    segments = np.array([[0, 1, 0, 0, 1, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0]])
    return (segments[:, None, :, None] != segments[:, None, None, :]).astype("float32")
