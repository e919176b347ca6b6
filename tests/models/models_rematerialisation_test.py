"""Blocks that are computed again in the backward pass give the gradients of blocks that are kept."""

import math

import keras
import numpy as np
import pytest

from firth import features as names
from firth.layers.elements import rematerialisation
from firth.layers.elements.rematerialisation import rematerialise_blocks
from firth.models import PretrainingModel, example_sums, total_loss
from tests.backends.gradients import gradients
from tests.models.table import BATCH, LENGTH, TRAINED, VOCABULARY, shape_of, training_features
from tests.repeating import often

# One of each kind of stack, and blocks that read more: an order, and vectors of positions.
CASES = (
    "masked_lm",
    "causal_lm",
    "span_corruption",
    "permutation_lm",
    "bidirectional_lm",
    "unilm",
    "masked_lm, mask decoder",
)
LOOPS_AND_BLOCKS = ("masked_lm", "bidirectional_lm")
KEYS = np.arange(1, 2 * BATCH + 1, dtype="int32").reshape(BATCH, 2)


def build(name, again, dtype="float32", **shape):
    objective = TRAINED[name][1]
    model = PretrainingModel(
        shape_of(name, **shape), objective, VOCABULARY, seed=3, dtype=dtype, name="pretraining"
    )
    model.build()
    if again:
        rematerialise_blocks(model)
    return model, objective.losses


def loss_of(model, losses, features):
    return total_loss(example_sums(model(features, training=True)), losses)["loss"]


def gradients_of(name, again, keys=True, **how):
    """All shapes drop a tenth of everything."""
    model, losses = build(name, again, **how)
    features = training_features(name) | ({names.NOISE_KEYS: KEYS} if keys else {})
    return gradients(model, lambda: loss_of(model, losses, features))


def assert_equal(made, kept, tolerance):
    assert made.keys() == kept.keys()
    for path, value in kept.items():
        largest = max(1.0, np.abs(value).max())
        np.testing.assert_allclose(made[path], value, rtol=0, atol=tolerance * largest, err_msg=path)


@pytest.mark.parametrize("name", often(CASES, ["causal_lm", "permutation_lm", "bidirectional_lm"]))
def test_gradients_are_those_of_blocks_that_are_kept(name, monkeypatch):
    # The second layer shows that each draws what it drew.
    how = {"layers": 2 if name == "causal_lm" else 1}
    kept, calls, original = gradients_of(name, again=False, **how), [], rematerialisation.rematerialised

    def counted(*inputs, **more):
        calls.append(1)
        return original(*inputs, **more)

    monkeypatch.setattr(rematerialisation, "rematerialised", counted)
    assert_equal(gradients_of(name, again=True, **how), kept, 1e-6)
    assert len(calls) >= how["layers"]


@pytest.mark.parametrize("name", often(LOOPS_AND_BLOCKS, ["masked_lm"]))
def test_gradients_in_bfloat16_are_those_of_blocks_that_are_kept(name):
    """Where a sum is rounded may differ."""
    how = {"dtype": "mixed_bfloat16", "layers": 1}
    assert_equal(gradients_of(name, again=True, **how), gradients_of(name, again=False, **how), 1e-2)


@pytest.mark.skipif(keras.backend.backend() == "jax", reason="draws without keys change a generator")
@pytest.mark.parametrize("name", often(LOOPS_AND_BLOCKS, ["masked_lm"]))
def test_without_keys_a_block_draws_the_same_twice(name):
    """The loss is a function of the drawn masks: with the same masks it falls along its gradient."""
    model, losses = build(name, again=True)
    features = training_features(name)
    state = model.seed_generator.state
    first = keras.ops.copy(state)

    def loss():
        state.assign(first)
        return loss_of(model, losses, features)

    found = gradients(model, loss)
    before, step = float(loss()), 1e-3
    norm = math.sqrt(sum(float((value**2).sum()) for value in found.values()))
    for variable in model.trainable_variables:
        variable.assign(variable - step / norm * found[variable.path])
    assert before - float(loss()) == pytest.approx(step * norm, rel=0.05)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="its graph is TensorFlow's")
@pytest.mark.parametrize("name", often([*LOOPS_AND_BLOCKS, "causal_lm"], ["causal_lm"]))
def test_one_more_layer_keeps_little_more_than_its_input(name):
    """Counted in the graph: tensors that are made before the loss, and read after it."""
    from tests.backends.held_tensors import held_bytes

    # A graph has each step of an LSTM.
    length = 2 if name == "bidirectional_lm" else LENGTH
    features = {
        key: value[:, :length] if value.shape[1] == LENGTH else value
        for key, value in training_features(name).items()
    }

    def held(layers):
        model, losses = build(name, again=True, layers=layers)
        read = features | {names.NOISE_KEYS: KEYS}
        return held_bytes(model.trainable_variables, lambda: loss_of(model, losses, read))

    # Layers that are kept hold 24 and 60 times their input.
    input_bytes = 4 * BATCH * length * shape_of(name).width
    assert input_bytes <= held(2) - held(1) < 1.5 * input_bytes


# What XLA plans for four more layers, next to what it plans without: of an LSTM, loops keep most.
LESS = {"masked_lm": 0.1, "causal_lm": 0.1, "span_corruption": 0.1, "bidirectional_lm": 0.95}


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="XLA's plan is asked of JAX")
@pytest.mark.parametrize("name", LESS)
def test_compiled_gradients_take_less_memory_for_more_layers(name):
    from tests.backends.compiled_memory import temporary_bytes

    def needed(again, layers):
        model, losses = build(name, again, layers=layers)
        features = training_features(name) | {names.NOISE_KEYS: KEYS}
        return temporary_bytes(model.trainable_variables, lambda: loss_of(model, losses, features))

    kept, made = (needed(again, 6) - needed(again, 2) for again in (False, True))
    assert 0 < made < LESS[name] * kept
