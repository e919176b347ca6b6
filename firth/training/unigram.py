"""How often each piece occurs: the baseline that a language model must beat."""

import numpy as np

from firth import features
from firth.training.rows import Rows


def count_pieces(rows: Rows, vocabulary_size: int) -> np.ndarray:
    """Returns the occurrences of each piece in the rows, int64 [vocabulary_size].

    Special tokens that an objective puts in are not in the rows, and padding is not counted.
    """
    counts = np.zeros(vocabulary_size, np.int64)
    for block in rows.blocks():
        lengths = block[features.CHUNK_LENGTHS].sum(axis=1)
        tokens = block[features.RAW_TOKENS]
        real = np.arange(tokens.shape[1]) < lengths[:, np.newaxis]
        counts += np.bincount(tokens[real], minlength=vocabulary_size)
    return counts
