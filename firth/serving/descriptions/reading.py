"""How much of the texts of records a signature reads, as its outputs say it."""

from typing import NamedTuple

import tensorflow as tf


class Reading(NamedTuple):
    """How much of some texts is read, in tokens without special ones.

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
