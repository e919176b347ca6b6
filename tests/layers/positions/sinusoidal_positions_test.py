import math

import numpy as np
import pytest

from firth import layers


def test_sinusoids_by_formula():
    width, places = 6, np.array([[0, 1, 7, 300]])
    found = np.array(layers.SinusoidalPositions(width)(places))[0]
    for row, place in enumerate(places[0]):
        for column in range(width):
            angle = place / 10_000 ** (2 * (column // 2) / width)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert found[row, column] == pytest.approx(expected, abs=1e-4)
