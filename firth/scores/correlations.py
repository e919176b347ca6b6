"""Correlations of numbers, by SciPy."""

from collections.abc import Sequence

import numpy as np

from firth.scores.inputs import Floats, number_pairs

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
