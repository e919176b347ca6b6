"""What models are counted in: lengths of a row, multiply-adds, parameters of a dense layer."""

import dataclasses


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


def dense(inputs: int, outputs: int, bias: bool = True) -> int:
    """Returns the parameters of a dense layer.

    Args:
        inputs: Width of the inputs.
        outputs: Width of the outputs.
        bias: True for a bias of each output.
    """
    return inputs * outputs + (outputs if bias else 0)
