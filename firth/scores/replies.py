"""The probability of replies that a language model reads: the inverse of its perplexity on them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from firth.scores.inputs import Ints, check_pairs, finite_numbers


class ReplyPieces(NamedTuple):
    """The pieces of a dialogue's replies.

    Attributes:
        pieces: Number of them.
        by_frequency: Natural logarithm of their probability by the frequencies of pieces alone.
    """

    pieces: int
    by_frequency: float = 0.0


def reply_probability(references: Sequence[ReplyPieces], predictions: Sequence[float]) -> float:
    """Returns the geometric mean of the probabilities of all pieces of replies; 0 where there is none.

    Args:
        predictions: Natural logarithm of the probability of the pieces of each dialogue.

    Example:

    >>> round(reply_probability([ReplyPieces(3), ReplyPieces(1)], [3 * np.log(0.5), np.log(0.5)]), 6)
    0.5
    """
    return reply_probability_of_places(references, predictions)(np.arange(len(references)))


def reply_probability_of_places(
    references: Sequence[ReplyPieces], predictions: Sequence[float]
) -> Callable[[Ints], float]:
    """Returns the score as a function of the places of some examples."""
    check_pairs(references, predictions)
    sums = finite_numbers(predictions, "prediction")
    pieces = np.array([each.pieces for each in references], np.int64)

    def value(places: Ints) -> float:
        count = pieces[places].sum()
        return float(np.exp(sums[places].sum() / count)) if count else 0.0

    return value
