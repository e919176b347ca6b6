"""Counts of pieces, for the baseline that a language model must beat."""

from typing import Any

import numpy as np
import numpy.typing as npt

from firth import features
from firth.training.rows import Rows


def count_pieces(rows: Rows, vocabulary_size: int) -> npt.NDArray[Any]:
    """Returns the occurrences of each piece in the rows, int64 [vocabulary_size].

    Special tokens that an objective puts in are not in the rows, and padding is not counted.

    Args:
        rows: Rows of the training split.
        vocabulary_size: Number of rows of the model's vocabulary.
    """
    counts = np.zeros(vocabulary_size, np.int64)
    for block in rows.blocks():
        lengths = block[features.CHUNK_LENGTHS].sum(axis=1)
        tokens = block[features.RAW_TOKENS]
        real = np.arange(tokens.shape[1]) < lengths[:, np.newaxis]
        counts += np.bincount(tokens[real], minlength=vocabulary_size)
    return counts
