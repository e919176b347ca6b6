"""A tensor that a signature answers with."""

import dataclasses
from typing import Any, NamedTuple

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Output:
    """The description of an output.

    Attributes:
        meaning: Its meaning, a noun.
        dtype: Name of its dtype.
        shape: Its axes, the batch first: the size of each, or its name where the size depends on the texts or
            on the model.
        is_invariant: True if it must not depend on what else is in the batch. What an argmax or a ranking
            decides is not: two of nearly the same score may change places.
    """

    meaning: str
    dtype: str = "float32"
    shape: tuple[str | int, ...] = ("batch",)
    is_invariant: bool = True

    def describe(self) -> dict[str, Any]:
        """Returns the description, fit for JSON.

        Example:

        >>> Output("vector of the text", shape=("batch", "width")).describe()
        {'dtype': 'float32', 'shape': ['batch', 'width'], 'meaning': 'vector of the text'}
        """
        return {"dtype": self.dtype, "shape": list(self.shape), "meaning": self.meaning}


def input_of_strings(meaning: str, *axes: str) -> dict[str, Any]:
    """Describes an input: a string for each text of the batch, or several with further axes."""
    return Output(meaning, "string", ("batch", *axes)).describe()


def reading(what: str = "the text was longer than the row and was cut") -> dict[str, Output]:
    """Returns the outputs of every signature that say how much of the texts of each record was read."""
    return {
        "truncated": Output(f"whether {what}", "bool"),
        "tokens_read": Output("number of tokens that were read, without special ones", "int32"),
        "tokens_given": Output("number of tokens that the texts have", "int32"),
    }


class Reading(NamedTuple):
    """Numbers of tokens of texts that are read, without special ones.

    Attributes:
        read: Tokens of each record that are read, int [batch].
        given: Tokens that its texts have, int [batch].
    """

    read: tf.Tensor
    given: tf.Tensor

    @classmethod
    def of(cls, kept: tf.RaggedTensor, whole: tf.RaggedTensor) -> "Reading":
        """Returns how much is read of tokens.

        Args:
            kept: Tokens that are read, ragged [batch, (tokens)].
        """
        return cls(kept.row_lengths(), whole.row_lengths())

    def __add__(self, other: "Reading") -> "Reading":  # type: ignore[override]
        """Returns how much is read of two texts of each record."""
        return Reading(*(tf.cast(one, tf.int32) + tf.cast(two, tf.int32) for one, two in zip(self, other)))

    @property
    def outputs(self) -> dict[str, tf.Tensor]:
        """The outputs that `descriptions.output.reading` describes."""
        read, given = (tf.cast(each, tf.int32) for each in self)
        return {"truncated": read < given, "tokens_read": read, "tokens_given": given}
