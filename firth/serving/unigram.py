"""The unigram distribution of the training split, the baseline of every masked LM."""

from typing import Any

import numpy as np
import numpy.typing as npt


def unigram_log_probabilities(counts: npt.NDArray[Any], vocabulary_size: int) -> npt.NDArray[Any]:
    """Smooths counts by adding one to each piece (Laplace's rule).

    Args:
        counts: Number of occurrences of each piece in the training split, int64 [rows]. Rows after the
            vocabulary must be zero.

    Returns:
        float32 [vocabulary_size], natural logarithms of probabilities that sum to one.

    Example:

    >>> np.exp(unigram_log_probabilities(np.array([0, 2, 0]), 2)).round(2).tolist()
    [0.25, 0.75]
    """
    counts = np.asarray(counts, np.int64)
    if counts.ndim != 1 or len(counts) < vocabulary_size:
        raise ValueError(
            f"unigram counts of shape {counts.shape} for a vocabulary of {vocabulary_size} pieces"
        )
    if counts.min(initial=0) < 0 or counts[vocabulary_size:].any():
        raise ValueError(f"unigram counts are negative, or not zero after the {vocabulary_size} pieces")
    smoothed = counts[:vocabulary_size].astype(np.float64) + 1.0
    return np.log(smoothed / smoothed.sum()).astype(np.float32)
