"""Adafactor next to Keras's own, which keeps more, and to the paper's algorithm."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from firth.training.optimizers.adafactor import Adafactor

SHAPES = [(5, 3), (4,), (), (1, 6), (2, 3, 4)]


def updated(kind, values, gradients, **settings):
    """Variables after some updates, and the optimizer."""
    variables = [keras.Variable(value.astype("float32"), name=f"v{at}") for at, value in enumerate(values)]
    optimizer = kind(0.3, **settings)
    optimizer.build(variables)
    for now in gradients:
        optimizer.apply([tf.constant(each, tf.float32) for each in now], variables)
    return [np.asarray(each) for each in variables], optimizer


def drawn(steps):
    rng = np.random.default_rng(0)
    gradients = [
        [rng.normal(size=shape) * 10.0 ** rng.integers(-3, 3) for shape in SHAPES] for _ in range(steps)
    ]
    return [rng.normal(size=shape) for shape in SHAPES], gradients


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, marks=pytest.mark.repeated),
        {"clip_threshold": 0.4, "beta_2_decay": -0.5, "epsilon_2": 2.0},
    ],
)
def test_updates_are_those_of_keras(settings):
    values, gradients = drawn(steps=7)
    found, _ = updated(Adafactor, values, gradients, **settings)
    expected, _ = updated(keras.optimizers.Adafactor, values, gradients, **settings)
    for one, other, before in zip(found, expected, values, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)
        assert (np.abs(one - before) > 1e-4).all()


def naive(value, gradients, rate, threshold):
    """Shazeer and Stern 2018, algorithms 4 and 6, of a matrix."""
    rows, columns = np.zeros(value.shape[0]), np.zeros(value.shape[1])
    for step, gradient in enumerate(gradients, 1):
        kept = 1 - step**-0.8
        squared = gradient**2 + 1e-30
        rows = kept * rows + (1 - kept) * squared.sum(1)
        columns = kept * columns + (1 - kept) * squared.sum(0)
        update = gradient / np.sqrt(np.outer(rows, columns) / rows.sum())
        update /= max(1.0, np.sqrt(np.mean(update**2)) / threshold)
        size = max(1e-3, np.sqrt(np.mean(value**2)))
        value = value - size * min(rate, step**-0.5) * update
    return value


def test_a_matrix_is_updated_as_in_the_paper():
    values, gradients = drawn(steps=5)
    found, _ = updated(Adafactor, values, gradients, clip_threshold=0.7)
    expected = naive(values[0], [now[0] for now in gradients], rate=0.3, threshold=0.7)
    np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-6)


def test_of_a_matrix_it_keeps_rows_and_columns_alone():
    values, gradients = drawn(steps=1)
    _, optimizer = updated(Adafactor, values, gradients)
    kept = {each.path.split("/")[-1]: tuple(each.shape) for each in optimizer.variables}
    del kept["iteration"], kept["learning_rate"]
    assert kept == {
        "v0_velocity_of_rows": (5,),
        "v0_velocity_of_columns": (3,),
        "v1_velocity": (4,),
        "v2_velocity": (),
        "v3_velocity_of_rows": (1,),
        "v3_velocity_of_columns": (6,),
        "v4_velocity_of_rows": (2, 3),
        "v4_velocity_of_columns": (2, 4),
    }
