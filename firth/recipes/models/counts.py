"""What models are counted in: lengths of a row, multiply-adds, kept numbers, parameters of a dense layer."""

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
class Kept:
    """Numbers that a forward pass keeps for its backward pass.

    Attributes:
        computed: Those in the dtype that products are computed in.
        float32: Those in float32 under either precision.

    Example:

    >>> (3 * Kept(computed=2) + Kept(float32=1)).bytes(element=2)
    16
    """

    computed: int = 0
    float32: int = 0

    def __add__(self, other: "Kept") -> "Kept":
        return Kept(self.computed + other.computed, self.float32 + other.float32)

    def __rmul__(self, count: int) -> "Kept":
        return Kept(count * self.computed, count * self.float32)

    def bytes(self, element: int) -> int:
        """Returns the bytes that they take.

        Args:
            element: Bytes of a number that is computed with: 4 in float32, 2 in bfloat16.
        """
        return element * self.computed + FLOAT32 * self.float32


def dense(inputs: int, outputs: int, bias: bool = True) -> int:
    """Returns the parameters of a dense layer."""
    return inputs * outputs + (outputs if bias else 0)
