import keras
import numpy as np
import pytest
import tensorflow as tf

from firth.models import PretrainingModel, build_pretraining_model
from firth.recipes import MuonConfig
from firth.training.optimizers.muon import Muon, matrices_of, orthogonal
from firth.training.optimizers.optimizer_kinds import build_optimizer
from tests.models.table import MODELS, OTHERS, TRAINED, VOCABULARY
from tests.training.artifacts import tiny_recipe


def naive_orthogonal(matrix, steps=5):
    """Jordan et al. 2024, in float64."""
    if matrix.shape[0] > matrix.shape[1]:
        return naive_orthogonal(matrix.T, steps).T
    made = matrix / (np.sqrt((matrix**2).sum()) + 1e-7)
    for _ in range(steps):
        square = made @ made.T
        made = 3.4445 * made + (-4.7750 * square + 2.0315 * square @ square) @ made
    return made


def naive_muon(value, gradients, sizes, axis, rate, decay, momentum=0.95, rms=0.2):
    """Momentum, Nesterov's step ahead, each matrix made orthogonal and scaled; decay at the same rate."""
    kept = np.zeros_like(value)
    ends = np.cumsum(sizes)[:-1]
    for gradient in gradients:
        value = value * (1 - rate * decay)
        kept = momentum * kept + gradient
        parts = np.split(gradient + momentum * kept, ends, axis=axis)
        steps = [rms * np.sqrt(max(part.shape)) * naive_orthogonal(part) for part in parts]
        value = value - rate * np.concatenate(steps, axis=axis)
    return value


@pytest.mark.parametrize(
    "shape, axis, sizes", [((6, 4), 1, (4,)), ((4, 6), 1, (6,)), ((4, 10), 1, (4, 3, 3)), ((9, 4), 0, (7, 2))]
)
def test_a_matrix_is_updated_as_a_naive_one(shape, axis, sizes):
    generator = np.random.default_rng(0)
    start, gradients = generator.normal(size=shape), generator.normal(size=(5, *shape))
    variable = keras.Variable(start.astype("float32"), name="kernel")
    optimizer = Muon(0.1, {"kernel": (axis, sizes)}, weight_decay=0.3)
    for gradient in gradients:
        optimizer.apply([tf.constant(gradient, tf.float32)], [variable])
    expected = naive_muon(start, gradients, sizes, axis, rate=0.1, decay=0.3)
    np.testing.assert_allclose(variable.numpy(), expected, atol=2e-4)


def test_the_iteration_keeps_directions_and_evens_out_singular_values():
    left, values, right = np.linalg.svd(np.random.default_rng(1).normal(size=(8, 5)), full_matrices=False)
    assert values.max() > 1.5 * values.min()
    made = np.array(orthogonal(tf.constant(left * values @ right, tf.float32), 5))
    between = left.T @ made @ right.T
    np.testing.assert_allclose(between, np.diag(np.diag(between)), atol=1e-5)
    assert ((np.diag(between) > 0.65) & (np.diag(between) < 1.25)).all()


def test_updates_are_as_large_as_those_of_adamw():
    """Liu et al. 2025, section 2.2: a root mean square of 0.2 at a rate of 1."""
    gradient = np.random.default_rng(2).normal(size=(48, 16))
    variable = keras.Variable(np.zeros((48, 16), "float32"), name="kernel")
    Muon(1.0, {"kernel": (1, (16,))}, weight_decay=0.0).apply([tf.constant(gradient, tf.float32)], [variable])
    assert np.sqrt((variable.numpy() ** 2).mean()) == pytest.approx(0.2, rel=0.2)


def test_all_else_is_adamw():
    """Embeddings, heads, norms and biases, by the same steps and with the same moments."""
    model = build_pretraining_model(tiny_recipe())
    matrices = matrices_of(model)
    assert matrices
    generator = np.random.default_rng(3)
    gradients = [generator.normal(size=each.shape).astype("float32") for each in model.trainable_variables]
    start, found = [each.numpy() for each in model.trainable_variables], []
    for config in (MuonConfig(learning_rate=0.01, warmup_steps=0), tiny_recipe().training.optimizer):
        config = config.model_copy(update={"learning_rate": 0.01, "warmup_steps": 0})
        for variable, value in zip(model.trainable_variables, start):
            variable.assign(value)
        optimizer = build_optimizer(config, 10, model=model)
        for _ in range(2):
            optimizer.apply([tf.constant(each) for each in gradients], model.trainable_variables)
        found.append({each.path: each.numpy() for each in model.trainable_variables})
    for path, value in found[0].items():
        assert np.array_equal(value, found[1][path]) == (path not in matrices), path


def test_a_matrix_has_one_moment():
    variables = [keras.Variable(np.ones((2, 2), "float32"), name=name) for name in ("kernel", "table")]
    optimizer = Muon(0.1, {"kernel": (1, (2,))})
    optimizer.build(variables)
    moments = [each.path for each in optimizer.variables if tuple(each.shape) == (2, 2)]
    assert sorted(path.rsplit("/", 1)[-1] for path in moments) == [
        "kernel_momentum",
        "table_momentum",
        "table_velocity",
    ]


@pytest.mark.parametrize("name", ["masked_lm", "causal_lm, table of its own", "span_corruption"])
def test_matrices_are_the_kernels_of_blocks(name):
    """Queries, keys and values are one each; the widths of all parts are those of the weight."""
    model, objective = TRAINED[name]
    made = PretrainingModel({**MODELS, **OTHERS}[model], objective, VOCABULARY, dtype="float32")
    made.build()
    found = matrices_of(made)
    of_blocks = {each.path: each for each in made.trainable_variables if "/block_" in each.path}
    assert set(found) == {path for path in of_blocks if path.endswith("kernel")}
    for path, (axis, sizes) in found.items():
        assert of_blocks[path].shape[axis] == sum(sizes), path
        assert len(sizes) == (3 if path.endswith("/attention/kernel") else len(sizes)), path
        assert len(sizes) in (1, 2, 3)


def test_rebuilt_from_its_config():
    model = build_pretraining_model(tiny_recipe())
    made = build_optimizer(MuonConfig(momentum=0.9, newton_schulz_steps=3), 5, model=model)
    again = Muon.from_config(made.get_config())
    assert (again.momentum, again.newton_schulz_steps, again.update_rms) == (0.9, 3, 0.2)
    assert again.matrices == made.matrices == matrices_of(model)
