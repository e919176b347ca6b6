import numpy as np

from firth.training.row_files import read_rows
from firth.training.rows import count_pieces
from tests.training.artifacts import LIMITS, raw_row, write_split


def test_counts_are_those_of_the_tokens(tmp_path):
    rows = read_rows(write_split(tmp_path, 9), tmp_path / "cache", LIMITS)
    tokens = [token for index in range(9) for token in raw_row(index)["tokens"]]
    counts = count_pieces(rows, LIMITS.vocabulary_size)
    assert counts.dtype == np.int64
    assert counts.tolist() == [tokens.count(piece) for piece in range(LIMITS.vocabulary_size)]
    assert counts[0] == 0  # Padding.
