"""Properties of every layer, over the table of all of them."""

import functools
import inspect
import random

import keras
import numpy as np
import pytest

import firth.layers
from tests.backends.gradients import compiled, gradients
from tests.layers.table import CASES
from tests.repeating import often

# Stacks and blocks of which `tests/models` tries the same on backbones; one of each kind stays.
OF_BACKBONES = {
    "TransformerBlock, pre-norm",
    "MaskedTransformer",
    "MaskedTransformer, two groups of two",
    "MaskedTransformer, shared layers",
    "MaskedTransformer, relative buckets",
    "MaskedTransformer, in an order",
    "CausalTransformer",
    "CausalTransformer, rotary",
    "CausalTransformer, with a prefix",
    "TwoStreamBlock",
    "TwoStreamTransformer",
    "TwoStreamTransformer, the query stream",
    "BiLSTM",
}
FEW = [name for name in CASES if name not in OF_BACKBONES]
cases = pytest.mark.parametrize("name", often(CASES, FEW))
# What holds for a layer, whatever is special.
PLAIN = [name for name in CASES if "," not in name]
layers = pytest.mark.parametrize("name", often(PLAIN, FEW, is_shared=True))


def make(name, **changes):
    case = CASES[name]
    # Keras draws seeds that are not given from it. `set_random_seed` also drops TensorFlow's kernels.
    random.seed(1)
    if "seed" not in inspect.signature(case.make.__init__).parameters:
        changes.pop("seed", None)
    return case.make(**{**case.arguments, **changes})


@functools.cache
def called(name):
    """A layer for tests that leave its weights as they are, and its output for the inputs of seed 0."""
    layer = make(name, seed=5)
    return layer, call(layer, name, *CASES[name].inputs(0))


@functools.cache
def mixed(name):
    """The same in mixed precision."""
    layer = make(name, seed=5, dtype="mixed_bfloat16")
    return layer, call(layer, name, *CASES[name].inputs(0))


@functools.cache
def built(name):
    """The first one with its output in NumPy."""
    layer, output = called(name)
    return layer, numpy(output)


def call(layer, name, *inputs, **named):
    return layer(*inputs, **CASES[name].named, **named)


def shapes(layer, inputs) -> list:
    """The shapes of those inputs that the layer's output shape may depend on."""
    named = inspect.signature(layer.compute_output_shape).parameters.values()
    count = len([each for each in named if each.kind is not each.VAR_KEYWORD])
    return [None if value is None else value.shape for value in inputs[:count]]


def symbolic(value):
    return None if value is None else keras.KerasTensor(value.shape, dtype=str(value.dtype))


def numpy(tensor) -> np.ndarray:
    return keras.ops.convert_to_numpy(keras.ops.cast(tensor, "float32"))


@cases
def test_config_round_trip(name):
    first = make(name, seed=5, dtype="mixed_bfloat16")
    config = keras.saving.serialize_keras_object(first)
    second = keras.saving.deserialize_keras_object(config)
    assert type(second) is type(first)
    assert second.get_config() == first.get_config()
    assert set(inspect.signature(type(first).__init__).parameters) - {"self", "kwargs"} <= set(
        first.get_config()
    ), "an argument of the constructor is missing from the config"


@cases
def test_weights(name):
    (layer, _), case = built(name), CASES[name]
    assert len(layer.trainable_weights) == len(layer.weights) == case.weights
    assert layer.count_params() == case.parameters


@layers
def test_weights_follow_from_the_seed(name):
    (first, _), (second, _), third = built(name), mixed(name), make(name, seed=6)
    call(third, name, *CASES[name].inputs(0))
    pairs = list(zip(first.get_weights(), second.get_weights(), third.get_weights()))
    assert all(np.array_equal(one, two) for one, two, _ in pairs)
    constant = not pairs or CASES[name].constant_start
    assert constant or any(not np.array_equal(one, three) for one, _, three in pairs)


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        pytest.param(name, policy, marks=() if name in FEW or policy == "float32" else pytest.mark.repeated)
        for name in CASES
        for policy in ("float32", "mixed_bfloat16")
        if policy == "float32" or "," not in name
    ],
)
def test_output_and_its_dtype(name, policy):
    case = CASES[name]
    inputs = case.inputs(0)
    layer, output = (called if policy == "float32" else mixed)(name)
    expected = "float32" if policy == "float32" or case.float32_output else "bfloat16"
    assert tuple(output.shape) == case.output_shape
    assert keras.backend.standardize_dtype(output.dtype) == expected
    assert tuple(layer.compute_output_shape(*shapes(layer, inputs), **case.named)) == case.output_shape
    found = call(layer, name, *map(symbolic, inputs))
    assert tuple(found.shape) == case.output_shape
    assert keras.backend.standardize_dtype(found.dtype) == expected
    assert {str(weight.dtype) for weight in layer.weights} <= {"float32"}
    np.testing.assert_allclose(numpy(output), built(name)[1], atol=0.1 if "mixed" in policy else 1e-6)


@cases
def test_every_weight_gets_a_gradient(name):
    (layer, output), case = built(name), CASES[name]
    inputs = case.inputs(0)
    direction = np.random.default_rng(1).normal(size=output.shape).astype("float32")
    found = gradients(layer, lambda: keras.ops.sum(keras.ops.multiply(call(layer, name, *inputs), direction)))
    assert len(found) == case.weights
    for path, value in found.items():
        assert value is not None and np.isfinite(value).all(), path
        assert np.abs(value).max() > 0, path


@cases
def test_a_batch_of_one_equals_a_batch_of_many(name):
    (layer, together), case = built(name), CASES[name]
    if not case.batched:
        pytest.skip("has no batch axis")
    alone = [
        value if value is None or place in case.shared else value[1:2]
        for place, value in enumerate(case.inputs(0))
    ]
    np.testing.assert_allclose(numpy(call(layer, name, *alone))[0], together[1], atol=1e-6)


# Backbones are made of these, and `tests/models` compiles all of those.
STACKS = {
    "TransformerBlock",
    "MaskedTransformer",
    "CausalTransformer",
    "TwoStreamTransformer",
    "TwoStreamBlock",
    "BiLSTM",
    "LSTM",
}


@pytest.mark.parametrize("name", often(PLAIN, {*PLAIN} - STACKS))
def test_compiled_equals_eager(name):
    layer, eager = built(name)
    found = compiled(lambda *inputs: call(layer, name, *inputs))(*CASES[name].inputs(0))
    np.testing.assert_allclose(numpy(found), eager, atol=1e-5)


@layers
def test_the_seed_state_decides_dropout(name):
    layer, inputs = built(name)[0], CASES[name].inputs(0)
    if "training" not in inspect.signature(layer.call).parameters:
        pytest.skip("has no dropout")
    states = [value for value in layer.variables if not value.trainable]
    assert len(states) == 1, "all dropout of a layer draws from one generator"
    start = keras.ops.convert_to_numpy(states[0].value)
    first, second = (numpy(call(layer, name, *inputs, training=True)) for _ in range(2))
    states[0].assign(start)
    np.testing.assert_array_equal(numpy(call(layer, name, *inputs, training=True)), first)
    arguments = CASES[name].arguments.get("stack", CASES[name].arguments)
    if any(arguments.get(key) for key in ("rate", "dropout")):
        assert not np.array_equal(first, second), "two steps drop differently"


@cases
def test_is_exported(name):
    made = CASES[name].make
    assert getattr(firth.layers, made.__name__) is made
    assert name.split(",")[0] == made.__name__
