"""The bytes of a model's tokens, as constraints read them."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from firth.constraints.matcher import ConstraintError

UNSPELLED = "the vocabulary has no pieces that write a valid text: its pieces put spaces where none may be"
"""Refusal of a constraint whose bytes the vocabulary has, but not next to one another."""


class TokenBytes(NamedTuple):
    """The bytes of a model's tokens after another token.

    A piece with a space in front writes none at the start of a text, so that one space before a constrained
    value is let through and is no part of it.

    Attributes:
        texts: Bytes of each row of the model's vocabulary; None for rows that are never let through: special
            pieces, sentinels, and rows without a piece.
        end_id: Id of the token that ends a text.
    """

    texts: tuple[bytes | None, ...]
    end_id: int

    @classmethod
    def of(cls, tokenizer: Any, may_write: npt.NDArray[np.bool_], end_id: int) -> "TokenBytes":
        """Returns the bytes of a tokenizer's pieces.

        Args:
            tokenizer: The tokenizer, a `TokenizerKind`.
            may_write: True for rows of the model's vocabulary that it may write, bool [rows].
            end_id: Id of the token that ends a text.
        """
        after: Sequence[bytes | None] = tokenizer.piece_bytes.after
        texts = [
            after[row] if may and row < len(after) and row != end_id else None
            for row, may in enumerate(may_write)
        ]
        # A piece without text would be written without end.
        return cls(tuple(text or None for text in texts), end_id)

    @property
    def mask_words(self) -> int:
        """Number of int32 words of a mask of all tokens."""
        return -(-len(self.texts) // 32)

    @property
    def lacking(self) -> set[int]:
        """Bytes that no token writes."""
        return set(range(256)).difference(*filter(None, self.texts))

    def check(self, needed: Collection[int]) -> None:
        """Refuses a text that needs a byte which no token writes.

        Args:
            needed: Bytes that every valid text has.

        Raises:
            ConstraintError: if one of them is in no token, with the byte.
        """
        lacking = sorted(self.lacking.intersection(needed))
        if lacking:
            raise ConstraintError(
                f"the vocabulary has no piece with {bytes([lacking[0]])!r}, which every valid text needs:"
                " train the tokenizer with byte_fallback, or extend its vocabulary by such pieces"
            )


SINGLE_BYTES = TokenBytes((*(bytes([each]) for each in range(256)), None), 256)
"""A vocabulary with a token for each byte, and the end."""
