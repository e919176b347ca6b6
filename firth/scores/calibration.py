"""Calibration of probabilities: expected calibration error, Brier score, reliability table."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from firth.scores.inputs import HIDDEN, Floats, Ints, check_pairs, finite_numbers

# Guo et al. (2017), section 5.
BINS = 15
_SUM_TOLERANCE = 1e-3


class ReliabilityBin(NamedTuple):
    """The examples whose confidence, the probability of the predicted class, is in one bin.

    Attributes:
        low: Confidence that all are above; the first bin has 0 as well.
        high: Confidence that none is above.
        examples: Number of examples.
        confidence: Mean confidence; 0 of no examples.
        accuracy: Share of right predictions; 0 of no examples.
    """

    low: float
    high: float
    examples: int
    confidence: float
    accuracy: float


def reliability_table(
    references: Sequence[int], predictions: Sequence[Sequence[float]], *, bins: int = BINS
) -> list[ReliabilityBin]:
    """Returns how often predictions were right, by confidence, in bins of equal width.

    Args:
        references: Place of the right class.
        predictions: Probabilities of all classes, for each example.
        bins: Number of bins.

    Raises:
        ValueError: for probabilities that are negative or do not add up to 1, for a place that is not one of
            a class, hidden labels (-1) included, for fewer than one bin, or as `check_pairs` says.

    Example:

    >>> reliability_table([0, 1], [[0.75, 0.25], [1.0, 0.0]], bins=2)[1]
    ReliabilityBin(low=0.5, high=1.0, examples=2, confidence=0.875, accuracy=0.5)
    """
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins}")
    right, given = _probabilities(references, predictions)
    confidence = given.max(axis=1, initial=0.0)
    is_right = given.argmax(axis=1) == right if len(right) else np.zeros(0)
    places = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    counts, confident, correct = (
        np.bincount(places, weights, bins) for weights in (None, confidence, is_right)
    )
    return [
        ReliabilityBin(
            place / bins,
            (place + 1) / bins,
            int(counts[place]),
            float(confident[place] / max(counts[place], 1)),
            float(correct[place] / max(counts[place], 1)),
        )
        for place in range(bins)
    ]


def expected_calibration_error(
    references: Sequence[int], predictions: Sequence[Sequence[float]], *, bins: int = BINS
) -> float:
    """Returns the mean distance of confidence and accuracy over the bins, by their examples; 1 of none.

    It is that of Guo et al. (2017), section 2, equation 3.

    Raises:
        ValueError: as of `reliability_table`.
    """
    table = reliability_table(references, predictions, bins=bins)
    total = sum(each.examples for each in table)
    apart = sum(each.examples * abs(each.accuracy - each.confidence) for each in table)
    return apart / total if total else 1.0


def brier_of(reference: int, prediction: Sequence[float]) -> float:
    """Returns the squared distance of probabilities and the truth, the sum over classes (Brier, 1950).

    Raises:
        ValueError: as of `reliability_table`.

    Example:

    >>> round(brier_of(1, [0.2, 0.8]), 4)
    0.08
    """
    return brier([reference], [prediction])


def brier(references: Sequence[int], predictions: Sequence[Sequence[float]]) -> float:
    """Returns the mean of `brier_of` over examples, from 0 to 2; 2 of no examples.

    With two classes it is twice the score that is defined on one probability.

    Raises:
        ValueError: as of `reliability_table`.
    """
    right, given = _probabilities(references, predictions)
    if not len(right):
        return 2.0
    truth = np.eye(given.shape[1])[right]
    return float(np.square(given - truth).sum(axis=1).mean())


def brier_of_shares(references: Sequence[int]) -> float:
    """Returns `brier` where every prediction is the shares of the classes among the references.

    Example:

    >>> brier_of_shares([0, 1])
    0.5
    """
    shares = np.bincount(np.asarray(references, np.int64)) / len(references)
    return float(1.0 - np.square(shares).sum())


def _probabilities(references: Sequence[int], predictions: Sequence[Sequence[float]]) -> tuple[Ints, Floats]:
    check_pairs(references, predictions)
    if not len(references):
        return np.zeros(0, np.int64), np.zeros((0, 1))
    lengths = {len(each) for each in predictions}
    if len(lengths) > 1:
        raise ValueError(f"predictions have different numbers of classes: {sorted(lengths)}")
    given = np.stack([finite_numbers(each, f"example {n}, class") for n, each in enumerate(predictions)])
    wrong = np.flatnonzero((given < 0).any(axis=1) | (abs(given.sum(axis=1) - 1) > _SUM_TOLERANCE))
    if wrong.size:
        raise ValueError(f"example {wrong[0]} has no probabilities that add up to 1: {given[wrong[0]]}")
    classes = given.shape[1]
    for place, label in enumerate(references):
        is_int = isinstance(label, int | np.integer) and not isinstance(label, bool)
        if not is_int or not 0 <= label < classes:
            why = ", a hidden test label" if label == HIDDEN else ""
            raise ValueError(
                f"reference {place} is {label!r}{why}, not the place of one of {classes} classes"
            )
    return np.asarray(references, np.int64), given
