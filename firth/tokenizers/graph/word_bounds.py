"""The places where words start, for objectives that mask or count whole words."""

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.tokenizers.graph import characters
from firth.tokenizers.graph.characters import Kind

_ALONE = Kind.PUNCTUATION | Kind.IDEOGRAPHS | Kind.SPACES
_SPACE = b" "


@dataclasses.dataclass(frozen=True)
class WordBounds:
    """Bounds of words that pieces imply; each is bool [vocabulary].

    Attributes:
        starts: True for pieces that start a word in any place, as special pieces do.
        ends: True for pieces after which a word starts, whatever comes.
        goes_on: True for pieces after which no word starts: a space by itself is part of the word after it.
    """

    starts: npt.NDArray[Any]
    ends: npt.NDArray[Any]
    goes_on: npt.NDArray[Any]

    @classmethod
    def of_texts(cls, texts: Sequence[bytes], special_ids: Collection[int]) -> "WordBounds":
        r"""Returns the bounds that follow from the texts of pieces, so that words are those that BERT would
        see.

        A word starts with a space, and around each punctuation mark and each CJK ideograph.

        Example:

        >>> bounds = WordBounds.of_texts([b" fox", b"es", b".", b" (", b" ", b"\n", b"\xa9"], special_ids=())
        >>> bounds.starts.tolist()
        [True, False, True, True, True, True, False]
        >>> bounds.ends.tolist()
        [False, False, True, True, False, True, False]
        """
        decoded = [text.decode(errors="replace") for text in texts]
        starts = np.array([_is_alone(text[:1]) for text in decoded])
        goes_on = np.array([text == _SPACE for text in texts])
        ends = np.array([_is_alone(text[-1:]) for text in decoded]) & ~goes_on
        starts[list(special_ids)] = ends[list(special_ids)] = True
        return cls(starts, ends, goes_on)

    @classmethod
    def of_starts(cls, starts: npt.NDArray[Any]) -> "WordBounds":
        """Returns the bounds of pieces that tell by themselves whether they start a word.

        Args:
            starts: bool [vocabulary], True for pieces that start a word.
        """
        return cls(starts, np.zeros_like(starts), np.zeros_like(starts))


def _is_alone(character: str) -> bool:
    return bool(character) and bool(Kind(characters.kinds().item(ord(character))) & _ALONE)


def word_starts(tokenizer: Any, ids: npt.NDArray[Any], row_splits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns which tokens start a word: bool [tokens]."""
    bounds = tokenizer.word_bounds
    starts = bounds.starts[ids]
    starts[1:] = (starts[1:] & ~bounds.goes_on[ids[:-1]]) | bounds.ends[ids[:-1]]
    begins = row_splits[:-1][row_splits[1:] > row_splits[:-1]]
    starts[begins] = True
    return starts
