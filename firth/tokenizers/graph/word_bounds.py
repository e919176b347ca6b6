"""Where words start, for objectives that mask or count whole words."""

import dataclasses
from collections.abc import Collection, Sequence

import numpy as np

from firth.tokenizers.graph import characters
from firth.tokenizers.graph.characters import Kind

_ALONE = Kind.PUNCTUATION | Kind.IDEOGRAPHS | Kind.SPACES
_SPACE = b" "


@dataclasses.dataclass(frozen=True)
class WordBounds:
    """What pieces say about the words that they are in; each is bool [vocabulary].

    Attributes:
        starts: They start a word wherever they stand; special pieces do.
        ends: After them a word starts, whatever comes.
        goes_on: After them none starts: a space by itself is part of the word after it.
    """

    starts: np.ndarray
    ends: np.ndarray
    goes_on: np.ndarray

    @classmethod
    def of_texts(cls, texts: Sequence[bytes], special_ids: Collection[int]) -> "WordBounds":
        r"""Returns the bounds by what pieces stand for, so that words are those that BERT would see.

        A word starts with a space, and around each punctuation mark and each CJK ideograph.

        Args:
            texts: What each piece stands for, as UTF-8, in whole characters or in parts of one.
            special_ids: Of the special pieces.

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
    def of_starts(cls, starts: np.ndarray) -> "WordBounds":
        """Returns the bounds where the piece itself says whether it starts a word."""
        return cls(starts, np.zeros_like(starts), np.zeros_like(starts))


def _is_alone(character: str) -> bool:
    return bool(character) and bool(Kind(characters.kinds().item(ord(character))) & _ALONE)


def word_starts(tokenizer, ids: np.ndarray, row_splits: np.ndarray) -> np.ndarray:
    """Returns which tokens start a word: bool [tokens].

    Args:
        tokenizer: Of any kind.
        ids: int [tokens], of texts one after the other.
        row_splits: int [texts + 1], where each text begins; so does a word.
    """
    bounds = tokenizer.word_bounds
    starts = bounds.starts[ids]
    starts[1:] = (starts[1:] & ~bounds.goes_on[ids[:-1]]) | bounds.ends[ids[:-1]]
    begins = row_splits[:-1][row_splits[1:] > row_splits[:-1]]
    starts[begins] = True
    return starts
