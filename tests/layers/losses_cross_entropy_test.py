import numpy as np
import pytest

from firth.layers import cross_entropy
from tests.backends.gradients import derivative


def log_softmax(logits):
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0])
def test_cross_entropy_and_its_derivative(scale):
    generator = np.random.default_rng(0)
    logits = (generator.normal(size=(5, 7)) * scale).astype("float32")
    labels, direction = np.array([0, 6, 3, 3, 1]), generator.normal(size=5)
    expected = -log_softmax(logits)[np.arange(5), labels]
    np.testing.assert_allclose(np.array(cross_entropy(logits, labels)), expected, rtol=1e-5, atol=1e-5)
    slope = (np.exp(log_softmax(logits)) - np.eye(7)[labels]) * direction[:, None]
    found = derivative(lambda x: cross_entropy(x, labels), logits, direction)
    np.testing.assert_allclose(found, slope, atol=1e-5)


def test_a_z_loss_and_its_derivative():
    """`z_loss x (log sum exp)^2` on top; its slope is twice the logarithm times the probabilities."""
    generator = np.random.default_rng(1)
    logits, labels = generator.normal(size=(4, 6)).astype("float32") * 3, np.array([0, 5, 2, 2])
    direction = generator.normal(size=4)
    totals = np.log(np.exp(logits).sum(-1))
    plain = np.array(cross_entropy(logits, labels))
    found = np.array(cross_entropy(logits, labels, z_loss=0.1))
    np.testing.assert_allclose(found, plain + 0.1 * totals**2, rtol=1e-5)
    probabilities = np.exp(log_softmax(logits))
    slope = probabilities * (1 + 0.2 * totals[:, None]) - np.eye(6)[labels]
    made = derivative(lambda x: cross_entropy(x, labels, z_loss=0.1), logits, direction)
    np.testing.assert_allclose(made, slope * direction[:, None], atol=1e-5)


def test_cross_entropy_of_an_impossible_label_is_finite():
    logits = np.array([[0.0, 1000.0]], "float32")
    assert float(cross_entropy(logits, np.array([0]))[0]) == 1000.0
