import keras
import numpy as np
import pytest
import tensorflow as tf

from firth.models import build_pretraining_model
from firth.recipes import ConstantScheduleConfig
from firth.recipes.training import optimizers as recipes
from firth.training.optimizers.optimizer_kinds import OPTIMIZERS, AdamW, Lamb, build_optimizer
from firth.tuning.rate_multipliers import StartsAt
from tests.repeating import often
from tests.training.artifacts import tiny_recipe


def embedding_gradient(ids):
    layer = keras.layers.Embedding(4, 2, embeddings_initializer="zeros")
    layer.build()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.constant(ids)))
    return layer.trainable_variables, tape.gradient(loss, layer.trainable_variables)


def test_rows_that_repeat_are_summed_before_they_are_squared():
    """The second moment is (1 - beta_2) x 3^2 = .009; that of Keras 3.12 is .003."""
    variables, gradients = embedding_gradient([[1, 1, 1, 2]])
    assert isinstance(gradients[0], tf.IndexedSlices)
    optimizer = AdamW(0.1)
    norm = optimizer.apply(gradients, variables)
    assert float(norm) == pytest.approx(np.sqrt(2 * 3**2 + 2 * 1**2))
    expected = np.array([[0, 0], [0.009, 0.009], [0.001, 0.001], [0, 0]])
    np.testing.assert_allclose(np.asarray(optimizer._velocities[0]), expected, rtol=1e-4)


# By name: two that are decayed, of one axis and of three, a bias of two axes and a scale.
SHAPES = {"kernel": (5, 3), "vectors": (3,), "segment_bias": (2, 2), "gamma": (), "table": (2, 2, 2)}
IS_DECAYED = [name not in ("segment_bias", "gamma") for name in SHAPES]


def reference(values, gradients, rate, decay, beta_1, beta_2, epsilon, clip):
    """AdamW with bias correction (Loshchilov and Hutter 2017, algorithm 2), and BERT's global clipping."""
    first, second = [np.zeros_like(v) for v in values], [np.zeros_like(v) for v in values]
    for step, current in enumerate(gradients, 1):
        norm = np.sqrt(sum(np.sum(gradient**2) for gradient in current))
        for index, gradient in enumerate(current):
            gradient = gradient * min(1.0, clip / norm)
            if IS_DECAYED[index]:
                values[index] = values[index] * (1 - rate * decay)
            first[index] = beta_1 * first[index] + (1 - beta_1) * gradient
            second[index] = beta_2 * second[index] + (1 - beta_2) * gradient**2
            # Epsilon is outside of the second moment's correction, as in Keras and in BERT's own optimizer.
            scaled = rate * np.sqrt(1 - beta_2**step) / (1 - beta_1**step)
            values[index] = values[index] - scaled * first[index] / (np.sqrt(second[index]) + epsilon)
    return values


def test_updates_equal_a_naive_adamw():
    rng = np.random.default_rng(0)
    shapes = list(SHAPES.values())
    start = [rng.normal(size=shape) for shape in shapes]
    gradients = [[rng.normal(size=shape) for shape in shapes] for _ in range(5)]
    settings = {"beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-3}
    variables = [keras.Variable(value.astype("float32"), name=name) for name, value in zip(SHAPES, start)]
    optimizer = AdamW(0.01, weight_decay=0.3, global_clipnorm=2.0, **settings)
    norms = [
        float(optimizer.apply([tf.constant(g, tf.float32) for g in now], variables)) for now in gradients
    ]
    expected = reference(start, gradients, rate=0.01, decay=0.3, clip=2.0, **settings)
    for variable, value in zip(variables, expected):
        np.testing.assert_allclose(variable.numpy(), value, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        norms, [np.sqrt(sum(np.sum(g**2) for g in now)) for now in gradients], rtol=1e-5
    )


def test_without_clipping_and_decay_it_is_keras_s_adamw():
    rng = np.random.default_rng(1)
    start = rng.normal(size=(4, 4)).astype("float32")
    results = []
    for kind in (AdamW, keras.optimizers.AdamW):
        variable, optimizer = keras.Variable(start), kind(0.02, weight_decay=0.0)
        for step in range(6):
            optimizer.apply([tf.constant(np.sin(start + step))], [variable])
        results.append(variable.numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5, atol=1e-7)


def test_norms_and_biases_of_the_model_are_not_decayed():
    model = build_pretraining_model(tiny_recipe())
    variables = model.trainable_variables
    for variable in variables:
        variable.assign(tf.ones_like(variable.value))
    optimizer = AdamW(0.5, weight_decay=0.1)
    optimizer.apply([tf.zeros(variable.shape) for variable in variables], variables)
    for variable in variables:
        plain = any(word in variable.path for word in ("bias", "beta", "gamma", "norm"))
        np.testing.assert_allclose(variable.numpy(), 1.0 if plain else 0.95, rtol=1e-6, err_msg=variable.path)
    assert sum("norm" in variable.path for variable in variables) > 4


def test_built_from_a_recipe_and_rebuilt_from_its_config():
    config = recipes.AdamWConfig(
        learning_rate=0.5, warmup_steps=1, weight_decay=0.2, beta_1=0.7, gradient_clip_norm=None
    )
    optimizer = build_optimizer(config, steps=3)
    again = AdamW.from_config(optimizer.get_config())
    for made in (optimizer, again):
        assert (made.weight_decay, made.beta_1, made.global_clipnorm) == (0.2, 0.7, None)
        assert float(made.learning_rate) == 0.5


@pytest.mark.parametrize("name, value", [("clipnorm", 1.0), ("clipvalue", 1.0), ("amsgrad", True)])
def test_what_it_cannot_do_is_refused(name, value):
    with pytest.raises(ValueError, match=f"takes no {name}"):
        AdamW(0.1, **{name: value})


CONFIGS = {kind: config() for kind, config in zip(OPTIMIZERS, (
    recipes.AdamWConfig, recipes.LambConfig, recipes.AdafactorConfig, recipes.AdagradConfig,
    recipes.MuonConfig))}  # fmt: skip


@pytest.mark.parametrize("kind", often(OPTIMIZERS, ["adamw", "adafactor"]))
def test_rows_that_repeat_count_as_one_gradient(kind):
    """A sparse gradient with repeated rows does the same as the dense one."""
    assert CONFIGS[kind].kind == kind
    results = []
    for dense in (False, True):
        variables, gradients = embedding_gradient([[1, 1, 1, 2]])
        variables[0].assign(np.arange(8.0).reshape(4, 2) / 8 + 0.1)
        config = CONFIGS[kind].model_copy(update={"warmup_steps": 0, "learning_rate": 0.1})
        optimizer = build_optimizer(config, steps=10)
        given = [tf.convert_to_tensor(gradients[0])] if dense else gradients
        for _ in range(3):
            optimizer.apply(given, variables)
        results.append(variables[0].numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)
    assert not np.allclose(results[0], np.arange(8.0).reshape(4, 2) / 8 + 0.1)


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_gradients_are_clipped_by_their_global_norm(kind):
    """Where only the direction of the update is kept, clipping changes nothing but the reported norm."""
    config = CONFIGS[kind].model_copy(update={"gradient_clip_norm": 0.5, "warmup_steps": 0})
    variable = keras.Variable(np.ones((2, 2), "float32"))
    optimizer = build_optimizer(config, steps=10)
    norm = optimizer.apply([tf.fill([2, 2], 3.0)], [variable])
    assert float(norm) == pytest.approx(6.0)
    assert optimizer.global_clipnorm == 0.5
    assert (variable.numpy() < 1).all()


def test_adagrad_equals_a_naive_one():
    gradients = np.random.default_rng(0).normal(size=(4, 3, 2)).astype("float32")
    variable, value, total = keras.Variable(np.ones((3, 2), "float32")), np.ones((3, 2)), np.ones((3, 2))
    config = recipes.AdagradConfig(learning_rate=0.5, gradient_clip_norm=None)
    optimizer = build_optimizer(config, steps=4)
    for gradient in gradients:
        optimizer.apply([tf.constant(gradient)], [variable])
        total += gradient**2
        value -= 0.5 * gradient / np.sqrt(total)
    np.testing.assert_allclose(variable.numpy(), value, rtol=1e-5)


def updated(kind, multiplier=None, steps=1, learning_rate=0.1, **settings):
    """A variable that some steps update, at the multiplied rate, and the optimizer."""
    config = CONFIGS[kind].model_copy(
        update={
            "warmup_steps": 0,
            "learning_rate": learning_rate,
            "schedule": ConstantScheduleConfig(),
            **settings,
        }
    )
    variables = [keras.Variable(np.full((3, 2), value, "float32"), name=f"v{value}") for value in (1, 2)]
    multipliers = {} if multiplier is None else {"v1": multiplier}
    optimizer = build_optimizer(config, steps=100, multipliers=multipliers)
    for step in range(steps):
        optimizer.apply([tf.fill([3, 2], 0.3 + step), tf.fill([3, 2], 0.4)], variables)
    return variables[0].numpy(), variables[1].numpy(), optimizer


@pytest.mark.parametrize("kind", often(OPTIMIZERS, ["adamw", "adafactor", "lamb"]))
def test_a_multiplier_scales_the_whole_update(kind):
    """As another learning rate does, weight decay included, without effect on another variable."""
    decays = "weight_decay" in type(CONFIGS[kind]).model_fields
    settings = {"steps": 3, **({"weight_decay": 0.5} if decays else {})}
    half, plain, lower = (
        updated(kind, multiplier, learning_rate=rate, **settings)[:2]
        for multiplier, rate in ((0.5, 0.1), (None, 0.1), (None, 0.05))
    )
    np.testing.assert_array_equal(half[1], plain[1])
    np.testing.assert_allclose(half[0], lower[0], rtol=1e-6)
    assert abs(half[0] - plain[0]).min() > 0.02


def test_a_multiplier_scales_what_adafactor_takes_of_a_rate():
    """The rate is at most one over the root of the step, which is 1 here."""
    plain, quarter = (updated("adafactor", each, learning_rate=100.0)[0] for each in (None, 0.25))
    np.testing.assert_allclose(quarter - 1, (plain - 1) / 4, rtol=1e-5)


@pytest.mark.parametrize("kind", often(OPTIMIZERS, ["adamw", "adafactor", "muon"]))
def test_a_variable_stays_bit_for_bit_until_its_training_starts(kind):
    for steps in (1, 2, 3):
        value = updated(kind, StartsAt(2), steps=steps)[0]
        assert (value == 1).all() == (steps < 3), steps


def test_what_stays_as_it_is_does_not_count_in_the_norm():
    _, _, optimizer = updated("adamw", StartsAt(1))
    variables = optimizer._trainable_variables
    gradients = [tf.ones([3, 2]), tf.ones([3, 2])]
    assert float(optimizer.apply(gradients, variables)) == pytest.approx(np.sqrt(12))
    again = build_optimizer(CONFIGS["adamw"], steps=10, multipliers={"v1": StartsAt(1)})
    assert float(again.apply(gradients, variables)) == pytest.approx(np.sqrt(6))
    # Its moments are known all the same.
    assert (np.asarray(again._momentums[0]) > 0).all()


def test_the_steps_of_a_multiplier_are_those_of_the_run():
    """Where the optimizer has made updates in the run before."""
    variable = keras.Variable(np.ones((2, 2), "float32"), name="v")
    config = CONFIGS["adamw"].model_copy(update={"warmup_steps": 0})
    optimizer = build_optimizer(config, steps=10, first=7, multipliers={"v": StartsAt(1)})
    optimizer.build([variable])
    optimizer.iterations.assign(7)
    changed = []
    for _ in range(2):
        optimizer.apply([tf.ones([2, 2])], [variable])
        changed.append(bool((variable.numpy() != 1).any()))
    assert changed == [False, True]


def test_multipliers_are_rebuilt_from_the_config():
    _, _, optimizer = updated("lamb", StartsAt(2))
    again = Lamb.from_config(optimizer.get_config())
    assert again.get_config() == optimizer.get_config()
    assert "multipliers" not in updated("lamb")[2].get_config()


@pytest.mark.parametrize(
    "multipliers, message", [({"v": 1.5}, "1.5 is not from 0 to 1"), ({"w": 0.5}, "path w")]
)
def test_a_multiplier_that_fits_nothing_is_refused(multipliers, message):
    with pytest.raises(ValueError, match=message):
        build_optimizer(CONFIGS["adamw"], 3, multipliers=multipliers).build([keras.Variable(1.0, name="v")])


@pytest.mark.parametrize("kind", often(OPTIMIZERS, ["adamw", "adafactor", "muon"]))
def test_all_variables_of_an_optimizer_have_names_of_their_own(kind):
    """So that a run with other heads can take those that it shares."""
    model = build_pretraining_model(tiny_recipe())
    optimizer = build_optimizer(CONFIGS[kind], steps=10, model=model)
    optimizer.build(model.trainable_variables)
    names = [each.path for each in (*model.variables, *optimizer.variables)]
    assert len(names) > 20
    assert len(set(names)) == len(names)
