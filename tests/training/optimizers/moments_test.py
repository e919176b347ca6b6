import keras
import numpy as np
import pytest
import tensorflow as tf

from firth.training.optimizers.adagrad import Adagrad
from firth.training.optimizers.adamw import AdamW, Lamb
from firth.training.optimizers.moments import random_bits, rounded
from firth.training.optimizers.muon import Muon
from tests.repeating import often


def test_rounding_is_right_in_the_mean():
    """Between two neighbours in bfloat16, 1/128 apart, at a tenth of the way."""
    value = tf.fill([100_000], 1.0 + 0.1 / 128)
    made = rounded(value, random_bits(tf.constant(3), 1, value.shape)[0])
    assert made.dtype == tf.bfloat16
    found = np.asarray(tf.cast(made, tf.float64))
    assert set(found) == {1.0, 1.0 + 1 / 128}
    # Five standard deviations of the mean of so many draws.
    assert found.mean() == pytest.approx(1.0 + 0.1 / 128, abs=5 * 0.3 / 128 / 100_000**0.5)


def test_what_bfloat16_has_stays_as_it_is():
    values = tf.constant([0.0, -1.5, 3e-38, 2.0**100, -1e-10])
    exact = tf.cast(tf.cast(values, tf.bfloat16), tf.float32)
    made = rounded(exact, tf.fill([5], tf.constant(2**16 - 1, tf.uint32)))
    np.testing.assert_array_equal(tf.cast(made, tf.float32), exact)


def test_both_lots_of_bits_differ_and_follow_from_step_and_weight():
    first, second = random_bits(tf.constant(3), 1, tf.TensorShape([1000]))
    low = 2**16 - 1
    assert np.corrcoef(first.numpy() & low, second.numpy() & low)[0, 1] == pytest.approx(0, abs=0.15)
    np.testing.assert_array_equal(first, random_bits(tf.constant(3), 1, tf.TensorShape([1000]))[0])
    for other in (random_bits(tf.constant(4), 1, [1000]), random_bits(tf.constant(3), 2, [1000])):
        assert (first.numpy() != other[0].numpy()).mean() > 0.99


KINDS = {
    "adamw": lambda **more: AdamW(0.01, weight_decay=0.1, **more),
    "adagrad": lambda **more: Adagrad(0.1, initial_accumulator_value=0.1, **more),
    "lamb": lambda **more: Lamb(0.01, **more),
    "muon": lambda **more: Muon(0.01, matrices={"matrix": (1, (8,))}, **more),
}


def run(kind, steps=12, **how):
    """Weights after noisy gradients of a square, and the optimizer's variables."""
    rng = np.random.default_rng(0)
    start = rng.normal(size=(8, 8)).astype("float32")
    variables = [keras.Variable(start, name="matrix"), keras.Variable(start[0], name="vector")]
    optimizer = KINDS[kind](global_clipnorm=5.0, **how)
    optimizer.build(variables)
    for _ in range(steps):
        noise = [rng.normal(size=each.shape, scale=0.3).astype("float32") for each in variables]
        optimizer.apply([each.value + more for each, more in zip(variables, noise)], variables)
    return start, [np.asarray(each) for each in variables], optimizer


@pytest.mark.parametrize("kind", often(KINDS, ["lamb", "muon"]))
def test_updates_are_near_those_of_float32(kind):
    start, exact, _ = run(kind)
    _, halved, optimizer = run(kind, moments="bfloat16")
    names = "momentum", "velocity", "accumulator"
    assert {each.dtype for each in optimizer.variables if each.path.endswith(names)} == {"bfloat16"}
    for one, other, first in zip(exact, halved, (start, start[0])):
        moved = np.sqrt(np.mean((one - first) ** 2))
        assert 0 < np.sqrt(np.mean((one - other) ** 2)) < 0.05 * moved


def test_a_second_moment_falls_when_gradients_end():
    """Rounded to the nearest, it would stay at its first value: it changes by less than half a step."""
    variable = keras.Variable(np.ones((64, 64), "float32"))
    optimizer = AdamW(0.0, moments="bfloat16", beta_2=0.998)
    optimizer.apply([tf.ones((64, 64))], [variable])
    before = float(tf.reduce_mean(tf.cast(optimizer._velocities[0].value, tf.float32)))
    for _ in range(30):
        optimizer.apply([tf.zeros((64, 64))], [variable])
    after = float(tf.reduce_mean(tf.cast(optimizer._velocities[0].value, tf.float32)))
    assert after / before == pytest.approx(0.998**30, rel=0.01)


def test_a_sum_grows_by_what_is_less_than_bfloat16_tells_apart():
    """Rounded to the nearest, 256 and a half would be 256 again."""
    variable = keras.Variable(np.ones((64, 64), "float32"))
    optimizer = Adagrad(0.0, initial_accumulator_value=256.0, moments="bfloat16")
    for _ in range(40):
        optimizer.apply([tf.fill((64, 64), 0.5**0.5)], [variable])
    after = float(tf.reduce_mean(tf.cast(optimizer._accumulators[0].value, tf.float32)))
    assert after == pytest.approx(256 + 40 * 0.5, abs=1.0)


def murmur(step, index, number):
    """The word with a number, by its definition, in whole numbers of Python."""

    def mixed(word, between=0):
        word = ((word ^ word >> 15) * 739982445 + between) % 2**32
        return (word ^ word >> 16) * 2401173565 % 2**32

    first, second = (
        mixed((step * of_step + index * of_index + 2654435769) % 2**32)
        for of_step, of_index in ((1663821211, 3041712725), (1481765933, 1500450271))
    )
    return mixed((number * 2654435769 + first) % 2**32, second)


@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 2)])
def test_bits_are_by_their_definition(shape):
    """Whichever backend draws them, and however many axes a weight has."""
    first, second = random_bits(tf.constant(70_000), 12, shape)
    count = int(np.prod(shape))
    expected = np.array([murmur(70_000, 12, number) for number in range(count)], "uint32").reshape(shape)
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(second, expected >> 16)


def test_an_optimizer_is_rebuilt_with_its_dtype():
    again = AdamW.from_config(AdamW(0.1, moments="bfloat16").get_config())
    assert again.moments == "bfloat16"
