import numpy as np

from firth.layers.heads.bert_heads import tied_projection
from tests.backends.gradients import derivative


def test_tied_projection_derivatives():
    generator = np.random.default_rng(0)
    hidden, table = generator.normal(size=(3, 2)), generator.normal(size=(5, 2))
    direction = generator.normal(size=(3, 5))
    for_hidden = derivative(lambda x: tied_projection(x, table.astype("float32")), hidden, direction)
    for_table = derivative(lambda x: tied_projection(hidden.astype("float32"), x), table, direction)
    np.testing.assert_allclose(for_hidden, direction @ table, atol=1e-5)
    np.testing.assert_allclose(for_table, direction.T @ hidden, atol=1e-5)
