import math

import numpy as np
import pytest

from firth.layers.elements.activations import ACTIVATIONS, gelu
from tests.backends.gradients import derivative


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activations(name):
    points = np.linspace(-6, 6, 41).astype("float32")
    exact = np.array([0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in points])
    others = {"relu": np.maximum(points, 0), "silu": points / (1 + np.exp(-points))}
    expected = others.get(name, exact)
    tolerance = 1e-3 if name == "gelu_approximate" else 1e-6
    np.testing.assert_allclose(np.array(ACTIVATIONS[name](points)), expected, atol=tolerance)


def test_gelu_derivative():
    points = np.linspace(-6, 6, 41)
    # x Phi(x) has the derivative Phi(x) + x phi(x).
    expected = [
        0.5 * (1 + math.erf(x / math.sqrt(2))) + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        for x in points
    ]
    np.testing.assert_allclose(derivative(gelu, points, np.ones(41)), expected, atol=1e-6)
