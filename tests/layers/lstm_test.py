"""LSTMs with projection against loops over rows, directions and steps."""

import importlib

import keras
import numpy as np
import pytest
from keras import ops

from firth.layers import LSTM
from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.lstm import step_masks
from tests.backends.gradients import derivative, gradients
from tests.repeating import often

BATCH, LENGTH, INPUTS, CELLS, WIDTH = 2, 5, 4, 5, 3
DOCUMENTS = np.array([[1, 1, 2, 2, 0], [1, 2, 3, 3, 3]], "int32")
CLIPS = {"cell_clip": 0.5, "projection_clip": 0.3}
NO_CLIPS = {"cell_clip": None, "projection_clip": None}


def make(directions=2, scale=1.0, **changes):
    layer = LSTM(CELLS, WIDTH, directions, seed=1, **{**CLIPS, **changes})
    layer.build((None, None, directions * INPUTS))
    generator = np.random.default_rng(0)
    layer.set_weights([generator.normal(size=value.shape) * scale for value in layer.get_weights()])
    return layer


WAYS = ["looped"] if keras.backend.backend() == "jax" else ["written out", "looped"]


@pytest.fixture(autouse=True, params=WAYS)
def _steps(request, monkeypatch):
    """Short rows are written out, but on JAX; the same tests hold for the loop that longer rows take."""
    if request.param == "looped":
        monkeypatch.setattr(importlib.import_module("firth.layers.lstm_recurrence"), "_WRITTEN_OUT", 0)


def make_inputs(directions=2, seed=0, length=LENGTH, batch=BATCH):
    shape = batch, length, directions * INPUTS
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def make_state(directions=2, seed=5):
    generator = np.random.default_rng(seed)
    shapes = (BATCH, directions, WIDTH), (BATCH, directions, CELLS)
    return tuple(generator.normal(size=shape).astype("float32") * 0.2 for shape in shapes)


def clip(values, bound):
    return values if bound is None else ops.clip(values, -bound, bound)


def naive(layer, inputs, documents, state=None):
    """One row, one direction, one document and one step at a time, with the backend's own gradient."""
    outputs, states = [], []
    for row in range(BATCH):
        parts, ends = [], []
        for direction in range(layer.directions):
            weights = layer.input_kernel, layer.bias, layer.recurrent_kernel, layer.projection_kernel
            kernel, bias, recurrent, projection = (weight[direction] for weight in weights)
            hidden, cells = ops.zeros(WIDTH), ops.zeros(CELLS)
            if state is not None:
                hidden, cells = (ops.convert_to_tensor(part[row][direction]) for part in state)
            order = range(LENGTH) if direction == 0 else reversed(range(LENGTH))
            made, last = {}, None
            for step in order:
                document = documents[row][step]
                if document == 0:
                    made[step] = ops.zeros(WIDTH)
                    continue
                if last is not None and document != last:
                    hidden, cells = ops.zeros(WIDTH), ops.zeros(CELLS)
                last = document
                x = inputs[row, step, direction * INPUTS : (direction + 1) * INPUTS]
                summed = ops.matmul(kernel, x) + ops.matmul(recurrent, hidden) + bias
                i, f, o = (ops.sigmoid(summed[n * CELLS : (n + 1) * CELLS]) for n in range(3))
                cells = clip(i * ops.tanh(summed[3 * CELLS :]) + f * cells, layer.cell_clip)
                hidden = clip(ops.matmul(projection, o * ops.tanh(cells)), layer.projection_clip)
                made[step] = hidden
            parts.append(ops.stack([made[step] for step in range(LENGTH)]))
            ends.append((hidden, cells))
        outputs.append(ops.concatenate(parts, axis=-1))
        states.append([ops.stack(part) for part in zip(*ends)])
    return ops.stack(outputs), tuple(ops.stack(part) for part in zip(*states))


@pytest.mark.parametrize(
    "directions, clips", [pytest.param(1, NO_CLIPS, marks=pytest.mark.repeated), (2, CLIPS)]
)
def test_equals_a_naive_one(directions, clips):
    layer, inputs = make(directions, **clips), make_inputs(directions)
    for state in (None, make_state(directions)):
        expected, expected_state = naive(layer, inputs, DOCUMENTS, state)
        found, found_state = layer.call_with_state(inputs, DOCUMENTS, state)
        np.testing.assert_allclose(np.array(found), np.array(expected), atol=1e-5)
        for one, other in zip(found_state, expected_state):
            np.testing.assert_allclose(np.array(one), np.array(other), atol=1e-5)


GRADIENTS = [(True, CLIPS), (False, NO_CLIPS)]


# Each way, and each mask and clips.
@pytest.mark.parametrize(
    "_steps, masked, clips",
    often(
        [(way, *each) for way in WAYS for each in GRADIENTS],
        [(way, *each) for way, each in zip(WAYS, GRADIENTS)],
    ),
    indirect=["_steps"],
)
def test_gradients_equal_those_of_a_naive_one(masked, clips):
    layer, inputs, state = make(**clips), make_inputs(), make_state()
    documents = DOCUMENTS if masked else np.ones_like(DOCUMENTS)
    generator = np.random.default_rng(3)
    shapes = (BATCH, LENGTH, 2 * WIDTH), (BATCH, 2, WIDTH), (BATCH, 2, CELLS)
    directions = [generator.normal(size=shape).astype("float32") for shape in shapes]

    def loss(outputs, states):
        return sum(ops.sum(ops.multiply(a, b)) for a, b in zip((outputs, *states), directions))

    def ours(x, first):
        return loss(*layer.call_with_state(x, documents if masked else None, first))

    def theirs(x, first):
        return loss(*naive(layer, x, documents, first))

    found = gradients(layer, lambda: ours(inputs, state))
    expected = gradients(layer, lambda: theirs(inputs, state))
    for path in expected:
        scale = np.abs(expected[path]).max()
        np.testing.assert_allclose(found[path], expected[path], atol=2e-6 * max(1, scale), err_msg=path)
    for place, value in enumerate((inputs, *state)):
        parts = [inputs, *state]

        def of_part(function, part, place=place, parts=parts):
            x, *first = [part if other == place else each for other, each in enumerate(parts)]
            return function(x, tuple(first))

        one = derivative(lambda part: of_part(ours, part), value, 1.0)
        other = derivative(lambda part: of_part(theirs, part), value, 1.0)
        np.testing.assert_allclose(one, other, atol=1e-5 * max(1, np.abs(other).max()))


def test_one_step_by_hand():
    layer = LSTM(cells=2, width=1, cell_clip=1.5, projection_clip=2.0)
    layer.build((None, None, 1))
    rows = [50.0, 50.0, 50.0, 50.0, 50.0, 0.0, 50.0, -50.0]  # i i f f o o g g
    values = {
        "input_kernel": np.reshape(rows, (1, 8, 1)),
        "recurrent_kernel": np.zeros((1, 8, 1)),
        "projection_kernel": [[[4.0, 1.0]]],
        "bias": np.zeros((1, 8)),
    }
    for weight in layer.weights:
        weight.assign(values[weight.path.split("/")[-1]])
    # All gates are open but for the second output gate, a half: c = (1, -1), then (2, -2) clipped at 1.5.
    one, (_, cells) = layer.call_with_state(np.ones((1, 1, 1), "float32"))
    np.testing.assert_allclose(np.array(cells), [[[1.0, -1.0]]], atol=1e-6)
    assert float(one[0, 0, 0]) == 2.0, "4 tanh(1) - tanh(1) / 2 is above the clip"
    _, (_, cells) = layer.call_with_state(np.ones((1, 2, 1), "float32"))
    np.testing.assert_allclose(np.array(cells), [[[1.5, -1.5]]], atol=1e-6)
    layer.projection_clip = None
    unclipped = layer(np.ones((1, 2, 1), "float32"))
    expected = [3.5 * np.tanh(1.0), 3.5 * np.tanh(1.5)]
    np.testing.assert_allclose(np.array(unclipped)[0, :, 0], expected, atol=1e-6)


def test_a_state_handed_on_equals_one_longer_row():
    layer, inputs = make(directions=1, scale=0.5), make_inputs(directions=1)
    whole, last = layer.call_with_state(inputs)
    first, state = layer.call_with_state(inputs[:, :2])
    second, end = layer.call_with_state(inputs[:, 2:], state=state)
    np.testing.assert_allclose(np.concatenate([first, second], 1), np.array(whole), atol=1e-6)
    for one, other in zip(end, last):
        np.testing.assert_allclose(np.array(one), np.array(other), atol=1e-6)


def test_padding_changes_nothing():
    layer, inputs, state = make(), make_inputs(), make_state()
    documents = np.ones((BATCH, LENGTH), "int32")
    bare, last = layer.call_with_state(inputs, documents, state)
    wide = np.concatenate([inputs, 100 * make_inputs(seed=1, length=3)], axis=1)
    padded, end = layer.call_with_state(wide, np.pad(documents, ((0, 0), (0, 3))), state)
    np.testing.assert_array_equal(np.array(padded)[:, LENGTH:], 0.0)
    np.testing.assert_allclose(np.array(padded)[:, :LENGTH], np.array(bare), atol=1e-6)
    for one, other in zip(end, last):
        np.testing.assert_allclose(np.array(one), np.array(other), atol=1e-6)


def test_lengths_are_known_only_when_the_graph_runs():
    if keras.backend.backend() != "tensorflow":
        pytest.skip("shapes are always known on other backends")
    import tensorflow as tf

    layer, inputs = make(), make_inputs()
    specs = [tf.TensorSpec((None, None, 2 * INPUTS)), tf.TensorSpec((None, None), tf.int32)]
    graph = tf.function(lambda x, ids: layer(x, ids), input_signature=specs, autograph=False)
    np.testing.assert_allclose(graph(inputs, DOCUMENTS), layer(inputs, DOCUMENTS), atol=1e-6)


def test_states_start_anew_behind_the_first_document():
    masks = step_masks(np.array([[0, 0, 4, 4, 2, 0]]), directions=2)
    assert np.array(masks.keep)[:, :, 0, 0].T.tolist() == [[1, 1, 1, 1, 0, 1], [1, 1, 0, 1, 1, 1]]
    assert np.array(masks.real)[:, :, 0, 0].T.tolist() == [[0, 0, 1, 1, 1, 0], [0, 1, 1, 1, 0, 0]]


def test_forget_gates_start_open():
    layer = LSTM(cells=2, width=1, directions=2)
    layer.build((None, None, 2))
    assert np.array(layer.bias.value).tolist() == [[0, 0, 1, 1, 0, 0, 0, 0]] * 2


def test_places_have_the_widths_of_their_kernels():
    places = [(place.name, place.inputs, place.outputs) for place in make(directions=2).places()]
    widths = [("input", INPUTS, 4 * CELLS), ("recurrent", WIDTH, 4 * CELLS), ("projection", CELLS, WIDTH)]
    assert places == [
        (f"{direction}_{name}", *sizes) for direction in ("forward", "backward") for name, *sizes in widths
    ]


def test_a_gradient_of_two_values():
    @custom_gradient
    def both(x, y):
        return (x * y, x + y), lambda upstream: (upstream[0] * y + upstream[1], upstream[0] * x + upstream[1])

    def loss(pair):
        one, two = both(pair[0], pair[1])
        return 3.0 * one + 5.0 * two

    # The derivatives of 3 x y + 5 (x + y) at (2, 7).
    assert derivative(loss, np.array([2.0, 7.0]), 1.0).tolist() == [26.0, 11.0]
