"""The share of labels that the lengths of the segments tell."""

from typing import Any

import numpy as np
import numpy.typing as npt


def told_by_length(lengths: npt.NDArray[Any], labels: npt.NDArray[Any]) -> float:
    """Returns the share of labels that the best threshold on a length tells.

    The threshold, and which side of it means 1, is chosen on every other pair and tried on the rest, so that
    lengths that tell nothing give the share of the more frequent label.

    Args:
        lengths: Lengths, int [n], not negative.
        labels: Labels, int [n], 0 or 1.

    Example: what is longer than 3 has the label 1.

    >>> told_by_length(np.array([2, 3, 5, 9, 3, 2, 7, 4]), np.array([0, 0, 1, 1, 0, 0, 1, 1]))
    1.0
    """
    chosen, tried = slice(0, None, 2), slice(1, None, 2)
    if len(lengths) < 2:
        return 0.0
    size = int(lengths.max()) + 1
    ones = np.bincount(lengths[chosen], labels[chosen], size)
    zeros = np.bincount(lengths[chosen], 1 - labels[chosen], size)
    # Of each threshold from 0: how many are right if the label is 1 from there on.
    right = np.append(0, np.cumsum(zeros)) + np.append(np.cumsum(ones[::-1])[::-1], 0)
    total = len(labels[chosen])
    best = int(np.argmax(np.maximum(right, total - right)))
    share = float(((lengths[tried] >= best) == labels[tried]).mean())
    return share if 2 * right[best] >= total else 1.0 - share
