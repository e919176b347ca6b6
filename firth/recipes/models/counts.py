"""Units that models are counted in: lengths of a row, multiply-adds, bytes, parameters of a dense layer."""

import dataclasses

# Bytes of a number in float32.
FLOAT32 = 4


@dataclasses.dataclass(frozen=True)
class Lengths:
    """Lengths of one row.

    Attributes:
        input: Tokens that the encoder, or the only stack, reads.
        target: Tokens that a decoder next to an encoder reads; 0 without one.
        selected: Predictions at chosen positions; 0 if every position predicts.
        documents: Most documents of a row.
    """

    input: int
    target: int = 0
    selected: int = 0
    documents: int = 1


@dataclasses.dataclass(frozen=True)
class Work:
    """Multiply-adds of one row, and those that a step needs once for all its rows.

    Attributes:
        row: Multiply-adds of one row.
        step: Multiply-adds of a step that do not depend on its number of rows.
    """

    row: int
    step: int = 0


@dataclasses.dataclass(frozen=True)
class Activations:
    """Bytes of a row's activations that a training step holds for its backward pass.

    Attributes:
        blocks: Bytes that all blocks keep.
        inputs: Bytes of the inputs of all blocks, which are kept where blocks are computed again.
        block: Bytes that the largest block keeps.
        gradients: Bytes of the gradients that the backward pass of a block holds at once.
    """

    blocks: int = 0
    inputs: int = 0
    block: int = 0
    gradients: int = 0


def dense(inputs: int, outputs: int, bias: bool = True) -> int:
    """Returns the parameters of a dense layer."""
    return inputs * outputs + (outputs if bias else 0)
