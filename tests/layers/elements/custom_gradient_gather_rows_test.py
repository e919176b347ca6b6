import numpy as np

from firth.layers.elements.custom_gradient import gather_rows
from tests.backends.gradients import derivative


def test_gather_rows_sums_the_gradient_of_repeated_rows():
    rows = [[1, 0, 1], [1, 2, 2]]
    direction = np.arange(12.0).reshape(2, 3, 2)
    expected = np.zeros((4, 2))
    np.add.at(expected, np.array(rows), direction)
    found = derivative(lambda table: gather_rows(table, np.array(rows)), np.ones((4, 2)), direction)
    np.testing.assert_allclose(found, expected)
    assert isinstance(found, np.ndarray), "dense, not a list of rows"
