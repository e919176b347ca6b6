"""Cross-entropy of a projection that is made in chunks equals that of whole logits."""

import functools
import importlib

import keras
import numpy as np
import pytest

from firth.layers.chunked_losses import chunked_cross_entropy
from tests.backends.gradients import compiled, derivative, gradients
from tests.repeating import often

COUNT, WIDTH, VOCABULARY = 13, 4, 11
# All rows at once; three at a time, the last chunk not full; one at a time.
ALL, THREE, ONE = 1000, 3 * VOCABULARY, 1
RANDOM = np.random.default_rng(0)
HIDDEN, TABLE, BIAS = (
    RANDOM.normal(size=shape).astype("float32")
    for shape in ((COUNT, WIDTH), (VOCABULARY, WIDTH), (VOCABULARY,))
)
# Every other one is the likeliest.
LABELS = np.where(
    np.arange(COUNT) % 2, RANDOM.integers(0, VOCABULARY, COUNT), (HIDDEN @ TABLE.T + BIAS).argmax(-1)
).astype("int32")
SOME = np.array([0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0], "float32")
UNEVEN = SOME * np.linspace(0.5, 2.0, COUNT).astype("float32")
IS_TENSORFLOW = keras.backend.backend() == "tensorflow"

chunks = pytest.mark.parametrize("max_logits", [ALL, THREE, ONE])
trainings = pytest.mark.parametrize("training", [True, False])


class Projection(keras.layers.Layer):
    """Hidden states, a table and a bias, all to be differentiated for."""

    def __init__(self):
        super().__init__()
        values = {"hidden": HIDDEN, "table": TABLE, "bias": BIAS}
        self.parts = [self.add_weight(name=name, shape=value.shape) for name, value in values.items()]
        for part, value in zip(self.parts, values.values()):
            part.assign(value)

    def losses(self, weights=None, with_bias=True, **arguments):
        hidden, table, bias = self.parts
        bias = bias if with_bias else None
        return chunked_cross_entropy(hidden, table, bias, LABELS, weights, **arguments)


def by_hand(with_bias=True):
    """Returns losses, hits and probabilities."""
    logits = HIDDEN @ TABLE.T + (BIAS if with_bias else 0.0)
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    probabilities = exponentials / exponentials.sum(-1, keepdims=True)
    losses = -np.log(probabilities[np.arange(COUNT), LABELS])
    return losses, logits.argmax(-1) == LABELS, probabilities


@pytest.mark.parametrize(
    ("max_logits", "training", "with_bias"),
    [
        (ALL, True, True),
        pytest.param(ALL, False, False, marks=pytest.mark.repeated),
        pytest.param(THREE, True, False, marks=pytest.mark.repeated),
        (THREE, False, True),
        (ONE, True, True),
    ],
)
def test_losses_and_hits(max_logits, training, with_bias):
    arguments = {"with_bias": with_bias, "training": training, "max_logits": max_logits}
    losses, hits, _ = by_hand(with_bias)
    assert 0 < hits.sum() < COUNT
    for weights, real in ((None, 1.0), (SOME, SOME), (UNEVEN, SOME)):
        found = Projection().losses(weights, **arguments)
        np.testing.assert_allclose(np.array(found[0]), losses * real, atol=1e-5)
        np.testing.assert_array_equal(np.array(found[1]), hits * real)


@pytest.mark.parametrize(("max_logits", "training"), [(ALL, True), (THREE, True), (THREE, False)])
@pytest.mark.parametrize(
    "weights", [pytest.param(None, marks=pytest.mark.repeated), UNEVEN], ids=["ones", "uneven"]
)
@pytest.mark.parametrize("asked_for", ["weighted sum", "another sum"])
def test_gradients(max_logits, training, weights, asked_for):
    """Those of the weighted sum are made ahead in training; others must be right all the same."""
    weighted = np.ones(COUNT, "float32") if weights is None else weights
    direction = 0.3 * weighted
    if asked_for == "another sum":
        direction = np.random.default_rng(3).normal(size=COUNT).astype("float32")
    layer = Projection()
    arguments = {"training": training, "max_logits": max_logits}
    found = gradients(
        layer, lambda: keras.ops.sum(keras.ops.multiply(layer.losses(weights, **arguments)[0], direction))
    )
    _, _, probabilities = by_hand()
    slope = (probabilities - np.eye(VOCABULARY)[LABELS]) * (direction * (weighted > 0))[:, None]
    expected = {"hidden": slope @ TABLE, "table": slope.T @ HIDDEN, "bias": slope.sum(0)}
    assert {path.split("/")[-1] for path in found} == set(expected)
    for path, value in found.items():
        np.testing.assert_allclose(value, expected[path.split("/")[-1]], atol=1e-5, err_msg=path)


@pytest.mark.parametrize(("max_logits", "training"), [(ALL, True), (THREE, True), (THREE, False)])
def test_a_z_loss_and_its_gradients(max_logits, training):
    """`z_loss x (log sum exp)^2` on top, whose slope is twice the logarithm times the probabilities."""
    layer, direction = Projection(), 0.3 * UNEVEN
    arguments = {"training": training, "max_logits": max_logits, "z_loss": 0.1}
    losses, _, probabilities = by_hand()
    logits = HIDDEN @ TABLE.T + BIAS
    totals = np.log(np.exp(logits).sum(-1))
    found = np.array(layer.losses(UNEVEN, **arguments)[0])
    np.testing.assert_allclose(found, (losses + 0.1 * totals**2) * SOME, atol=1e-5)
    found = gradients(
        layer, lambda: keras.ops.sum(keras.ops.multiply(layer.losses(UNEVEN, **arguments)[0], direction))
    )
    slope = probabilities * (1 + 0.2 * totals[:, None]) - np.eye(VOCABULARY)[LABELS]
    slope = slope * direction[:, None]
    expected = {"hidden": slope @ TABLE, "table": slope.T @ HIDDEN, "bias": slope.sum(0)}
    for path, value in found.items():
        np.testing.assert_allclose(value, expected[path.split("/")[-1]], atol=1e-5, err_msg=path)


@chunks
def test_nothing_predicted(max_logits):
    layer, nothing = Projection(), np.zeros(COUNT, "float32")
    arguments = {"weights": nothing, "training": True, "max_logits": max_logits}
    np.testing.assert_array_equal(np.array(layer.losses(**arguments)), np.zeros((2, COUNT)))
    found = gradients(layer, lambda: keras.ops.sum(layer.losses(**arguments)[0]))
    assert len(found) == 3
    for value in found.values():
        np.testing.assert_array_equal(value, 0.0)


@chunks
def test_the_first_of_equals_is_the_likeliest(max_logits):
    hidden, table = np.ones((COUNT, WIDTH), "float32"), np.zeros((VOCABULARY, WIDTH), "float32")
    _, correct = chunked_cross_entropy(hidden, table, None, np.arange(COUNT) % 2, max_logits=max_logits)
    np.testing.assert_array_equal(np.array(correct), np.arange(COUNT) % 2 == 0)


@chunks
def test_bfloat16_is_close_and_sums_in_float32(max_logits):
    hidden, table, bias = Projection().parts
    hidden = keras.ops.cast(keras.ops.convert_to_tensor(hidden), "bfloat16")
    losses, _ = chunked_cross_entropy(hidden, table, bias, LABELS, max_logits=max_logits)
    assert keras.backend.standardize_dtype(losses.dtype) == "float32"
    np.testing.assert_allclose(np.array(losses), by_hand()[0], atol=0.05)


@chunks
def test_losses_do_not_depend_on_the_other_rows(max_logits):
    together, _ = chunked_cross_entropy(HIDDEN, TABLE, None, LABELS, max_logits=max_logits)
    for row in range(COUNT):
        alone, _ = chunked_cross_entropy(HIDDEN[row : row + 1], TABLE, None, LABELS[row : row + 1])
        np.testing.assert_allclose(float(alone[0]), float(together[row]), atol=1e-5)


def test_compiled_equals_eager():
    layer = Projection()
    eager = np.array(layer.losses(SOME, training=True, max_logits=THREE))
    made = compiled(lambda weights: layer.losses(weights, training=True, max_logits=THREE))(SOME)
    np.testing.assert_allclose(np.array(made), eager, atol=1e-5)


@pytest.mark.skipif(not IS_TENSORFLOW, reason="other backends have no unknown shapes")
def test_a_count_that_is_only_known_when_the_graph_runs():
    import tensorflow as tf

    losses, _, probabilities = by_hand(with_bias=False)
    rows, ids = tf.TensorSpec([None, WIDTH]), tf.TensorSpec([None], tf.int32)

    @tf.function(input_signature=[rows, tf.TensorSpec([VOCABULARY, WIDTH]), ids], autograph=False)
    def made(hidden, table, labels):
        with tf.GradientTape() as tape:
            tape.watch(table)
            found, _ = chunked_cross_entropy(hidden, table, None, labels, training=True, max_logits=THREE)
            total = tf.reduce_sum(found)
        return found, tape.gradient(total, table)

    for count in (0, 1, 3, COUNT):
        found, gradient = made(HIDDEN[:count], TABLE, LABELS[:count])
        np.testing.assert_allclose(found, losses[:count], atol=1e-5)
        slope = (probabilities - np.eye(VOCABULARY)[LABELS])[:count]
        np.testing.assert_allclose(gradient, slope.T @ HIDDEN[:count], atol=1e-5)


@pytest.mark.skipif(not IS_TENSORFLOW, reason="other backends have no unknown shapes")
def test_rows_of_unknown_number_are_padded_to_thousands_not_to_a_million():
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec([None, WIDTH])], autograph=False)
    def made(hidden):
        labels = tf.zeros(tf.shape(hidden)[:1], tf.int32)
        return tf.size(chunked_cross_entropy(hidden, TABLE, None, labels)[0]), labels

    functions = made.get_concrete_function().graph._functions
    assert functions
    sizes = [
        each.shape.num_elements() or 0
        for name in functions
        for op in made.get_concrete_function().graph._get_function(name).graph.get_operations()
        for each in op.outputs
    ]
    assert 1000 * VOCABULARY < max(sizes) < 10_000 * max(VOCABULARY, WIDTH)


def largest_tensor(max_logits, training) -> int:
    """Returns the elements of the largest tensor anywhere in the graph of losses and gradients."""
    layer = Projection()

    def sizes_of_step(weights):
        losses, _ = layer.losses(weights, training=training, max_logits=max_logits)
        return keras.ops.sum(losses * weights)

    measures = {"tensorflow": _largest_of_tensorflow, "jax": _largest_of_jax}
    if keras.backend.backend() not in measures:
        pytest.skip("there is no graph to look at")
    return measures[keras.backend.backend()](sizes_of_step, layer)


def _largest_of_tensorflow(function, layer):
    import tensorflow as tf

    @functools.partial(tf.function, autograph=False)
    def step(weights):
        with tf.GradientTape() as tape:
            loss = function(weights)
        return tape.gradient(loss, [part.value for part in layer.parts])

    graphs, sizes = [step.get_concrete_function(tf.TensorSpec([COUNT])).graph], []
    while graphs:
        graph = graphs.pop()
        sizes += [each.shape.num_elements() for op in graph.get_operations() for each in op.outputs]
        called = {graph._get_function(name) for name in graph._functions}
        graphs += [function.graph for function in called]
    assert None not in sizes[:1]
    return max(size or 0 for size in sizes)


def _largest_of_jax(function, layer):
    import jax
    from jax.extend.core import ClosedJaxpr, Jaxpr

    def loss_of(values):
        with keras.StatelessScope(state_mapping=list(zip(layer.parts, values))):
            return function(SOME)

    jaxprs, sizes = [jax.make_jaxpr(jax.grad(loss_of))([part.value for part in layer.parts]).jaxpr], []
    while jaxprs:
        for equation in jaxprs.pop().eqns:
            sizes += [each.aval.size for each in equation.outvars]
            values = jax.tree.leaves(
                equation.params, is_leaf=lambda value: isinstance(value, Jaxpr | ClosedJaxpr)
            )
            jaxprs += [
                getattr(value, "jaxpr", value) for value in values if isinstance(value, Jaxpr | ClosedJaxpr)
            ]
    return max(sizes)


@pytest.mark.parametrize("training", often([True, False], [True]))
def test_logits_are_never_held_at_once(training):
    """Neither forward nor backward; with room for all of them, they are, which shows that it is measured."""
    all_logits = COUNT * VOCABULARY
    assert largest_tensor(ALL, training) >= all_logits
    # The table itself, or rows padded to whole chunks, are the largest then.
    assert largest_tensor(THREE, training) < all_logits / 2


@pytest.mark.parametrize("max_logits", [100, 1])
def test_gradients_of_what_is_nearly_certain(max_logits):
    """Large logits round the loss, by which the gradient must not be rounded too."""
    hidden = np.array([[1000.0, 992.0], [1000.0, 992.125]], "float32")
    table, labels = np.eye(2, dtype="float32"), np.array([0, 0])

    def losses(states):
        return chunked_cross_entropy(states, table, None, labels, training=True, max_logits=max_logits)[0]

    missing = 1 / (1 + np.exp(hidden[:, 0].astype("float64") - hidden[:, 1]))
    found = derivative(losses, hidden, np.ones(2))
    np.testing.assert_allclose(found, np.stack([-missing, missing], axis=1), rtol=1e-3)


@pytest.mark.skipif(not IS_TENSORFLOW, reason="JAX traces both ways of making gradients")
def test_a_mean_over_many_rows_is_made_in_one_pass(monkeypatch):
    """A quotient of sums over so many rows is off by more than what tells one way from the other."""
    import tensorflow as tf

    module = importlib.import_module(chunked_cross_entropy.__module__)
    passes, made = [], module._loop
    monkeypatch.setattr(module, "_loop", lambda *given: passes.append(given) or made(*given))
    rows = 4096
    hidden, table = tf.ones((rows, 2)), tf.Variable(tf.ones((3, 2)))
    for count in range(3000, rows, 384):
        weights = tf.cast(tf.range(rows) < count, "float32")
        for scaled in (weights, weights * tf.linspace(0.5, 2.0, rows)):
            passes.clear()
            with tf.GradientTape() as tape:
                losses, _ = chunked_cross_entropy(
                    hidden,
                    table.value(),
                    None,
                    tf.zeros(rows, tf.int32),
                    scaled,
                    training=True,
                    max_logits=3072,
                )
                tape.watch(table)
                loss = tf.reduce_sum(losses * scaled) / tf.reduce_sum(scaled)
            tape.gradient(loss, table)
            assert len(passes) == 1, count
