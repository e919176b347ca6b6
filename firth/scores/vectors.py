"""Scores of text vectors: correlation of cosines with similarity, and retrieval."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from firth.scores.bootstrap import OfPlaces, spearman_of_places
from firth.scores.inputs import Floats, Ints, check_pairs, finite_numbers, number_pairs

_CHUNK = 1024
# Two texts that are the same have the same vector, but for the last bits.
_SAME = 1e-6


class TextVectors(NamedTuple):
    """The vectors of the two texts of a record, of length 1, each as the bytes of float32 [width].

    Attributes:
        first: Vector of the first text.
        second: Vector of the second text.
    """

    first: bytes
    second: bytes


def cosine_spearman(references: Sequence[float], predictions: Sequence[TextVectors]) -> float:
    """Returns Spearman's correlation of numbers with the cosines of the two texts (Reimers and Gurevych
    2019, section 4.1); 0 if either side is constant.

    Raises:
        ValueError: for a number that is not finite, or as `check_pairs` says.
    """
    check_pairs(references, predictions)
    return spearman(references, list(_cosines(predictions)))


def cosine_spearman_of_places(references: Sequence[float], predictions: Sequence[TextVectors]) -> OfPlaces:
    """Returns Spearman's correlation with the cosines, as a function of places."""
    return spearman_of_places(references, list(_cosines(predictions)))


def retrieval_accuracy(
    references: Sequence[float], predictions: Sequence[TextVectors], *, positive_from: float | None = None
) -> float:
    """Returns the share of first texts that no second text is nearer to than their own.

    It is 0 where the second texts, two or more, all have the same vector: no text is found by it.

    Raises:
        ValueError: as `check_pairs` says.

    Example:

    >>> def vectors(first, second):
    ...     return TextVectors(*(np.array(each, "float32").tobytes() for each in (first, second)))
    >>> retrieval_accuracy([1.0, 1.0], [vectors([1, 0], [1, 0]), vectors([0, 1], [0.8, 0.6])])
    1.0
    >>> retrieval_accuracy([1.0, 1.0], [vectors([1, 0], [0.6, 0.8]), vectors([0, 1], [1, 0])])
    0.0
    """
    found = retrieval_accuracy_of_places(references, predictions, positive_from=positive_from)
    return found(np.arange(len(references)))


def retrieval_accuracy_of_places(
    references: Sequence[float], predictions: Sequence[TextVectors], *, positive_from: float | None = None
) -> OfPlaces:
    """Returns a function of places: the share of first texts whose second text is the nearest."""
    check_pairs(references, predictions)
    numbers = finite_numbers(references, "reference")
    asked = np.ones(len(numbers), bool) if positive_from is None else numbers >= positive_from
    hits = _hits(predictions)

    def value_of(places: Ints) -> float:
        of_asked = hits[places][asked[places]]
        return float(of_asked.mean()) if of_asked.size else 0.0

    return value_of


def _hits(predictions: Sequence[TextVectors]) -> npt.NDArray[np.bool_]:
    if not predictions:
        return np.zeros(0, bool)
    firsts, seconds = (_matrix(predictions, side) for side in (0, 1))
    if len(seconds) > 1 and np.allclose(seconds, seconds[0], rtol=0.0, atol=_SAME):
        return np.zeros(len(seconds), bool)
    own = np.einsum("nw,nw->n", firsts, seconds)
    best = [(firsts[at : at + _CHUNK] @ seconds.T).max(axis=1) for at in range(0, len(firsts), _CHUNK)]
    return np.asarray(own >= np.concatenate(best) - _SAME)


def _cosines(predictions: Sequence[TextVectors]) -> Floats:
    if not predictions:
        return np.zeros(0)
    firsts, seconds = (_matrix(predictions, side).astype(np.float64) for side in (0, 1))
    return np.asarray(np.einsum("nw,nw->n", firsts, seconds), np.float64)


def _matrix(predictions: Sequence[TextVectors], side: int) -> npt.NDArray[np.float32]:
    return np.stack([np.frombuffer(each[side], np.float32) for each in predictions])


Bounds = tuple[float, float] | None


def pearson(references: Sequence[float], predictions: Sequence[float], *, bounds: Bounds = None) -> float:
    """Returns Pearson's correlation; 0 if either side is constant, as it is of fewer than two examples.

    Raises:
        ValueError: as `number_pairs` says.

    Example:

    >>> round(pearson([1.0, 2.0, 3.0], [2.0, 2.0, 5.0], bounds=(0.0, 5.0)), 4)
    0.866
    """
    from scipy.stats import pearsonr

    right, predicted = number_pairs(references, predictions, bounds)
    return 0.0 if _is_constant(right) or _is_constant(predicted) else float(pearsonr(right, predicted)[0])


def spearman(references: Sequence[float], predictions: Sequence[float], *, bounds: Bounds = None) -> float:
    """Returns Spearman's correlation of ranks, ties at their mean rank; 0 where Pearson's is.

    Raises:
        ValueError: as `number_pairs` says.

    Example:

    >>> round(spearman([1.0, 2.0, 3.0], [2.0, 9.0, 5.0]), 4)
    0.5
    """
    from scipy.stats import spearmanr

    right, predicted = number_pairs(references, predictions, bounds)
    return 0.0 if _is_constant(right) or _is_constant(predicted) else float(spearmanr(right, predicted)[0])


def _is_constant(numbers: Floats) -> bool:
    return numbers.size < 2 or bool(np.all(numbers == numbers[0]))
