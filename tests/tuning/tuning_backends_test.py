"""Properties of all methods, on each of Keras's backends, and in mixed precision."""

import keras
import numpy as np
import pytest
from keras import ops

from firth.models import PretrainingModel, TuningError
from firth.models.bundle import weights_by_path
from firth.recipes.tuning.adding import AdaLoRA
from firth.tuning import METHODS, merge
from firth.tuning.adalora import RankAllocator, SingularValueAddition
from tests.models.table import MODELS, TRAINED, VOCABULARY, training_features
from tests.tuning.table import ADDING, small

CASE = "masked_lm"


def states(model) -> np.ndarray:
    found = model.backbone(training_features(CASE), training=False)
    return ops.convert_to_numpy(ops.cast(found, "float32"))


@pytest.mark.repeated
@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
@pytest.mark.parametrize("kind", ADDING)
def test_a_model_starts_as_promised_and_is_merged_where_it_can_be(kind, dtype):
    method = small(kind, alpha=30.0)
    name, objective = TRAINED[CASE]
    model = PretrainingModel(MODELS[name], objective, VOCABULARY, seed=1, dtype=dtype, name="model")
    model.build()
    at_first, before = states(model), {path: np.array(each) for path, each in weights_by_path(model).items()}
    METHODS[kind](model, method, 1)
    near = {"atol": 1e-5} if dtype == "float32" else {"atol": 0.1}
    started = states(model)
    assert np.allclose(started, at_first, **near) == method.starts_as_base
    assert all(weight.dtype == "float32" for weight in model.added.weights)
    generator, spread = np.random.default_rng(5), 0.05 if method.starts_as_base else 1.0
    for weight in model.added.weights:
        weight.assign(weight + generator.normal(0.0, spread, weight.shape))
    with_additions = states(model)
    assert np.abs(with_additions - started).max() > 0.05
    for path, each in before.items():
        np.testing.assert_array_equal(weights_by_path(model)[path], each, err_msg=path)
    if not method.merges:
        with pytest.raises(TuningError, match="cannot be merged"):
            merge(model)
        return
    merge(model)
    np.testing.assert_allclose(states(model), with_additions, **near)


def observing():
    """Returns an addition's rank allocator, its weights, and gradients of those that are trained."""
    addition = SingularValueAddition(4, 5, 3, 1.0, name="addition")
    addition.build((None, None, 4))
    allocator = RankAllocator([addition], AdaLoRA(initial_rank=3, target_rank=1))
    allocator.plan(8)
    generator = np.random.default_rng(3)
    for weight in addition.trainable_variables:
        weight.assign(generator.normal(size=weight.shape))
    gradients = {
        each.path: generator.normal(size=each.shape).astype("float32")
        for each in addition.trainable_variables
    }
    return allocator, addition.variables, gradients


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="Other backends compile no function of states")
def test_compiled_steps_give_ranks_out_by_what_the_step_before_has_left():
    """Not by what the weights were when the function was compiled."""
    import jax

    allocator, variables, gradients = observing()

    def step(number, values):
        with keras.StatelessScope(state_mapping=list(zip(variables, values))) as scope:
            allocator.observe(gradients, number)
        return [scope.get_current_value(each) for each in variables]

    start = [each.value for each in variables]
    made = jax.jit(lambda values: jax.lax.fori_loop(1, 4, step, values))(start)
    for number in (1, 2, 3):
        allocator.observe(gradients, number)
    assert 0 < np.count_nonzero(variables[-1]) < 3
    for variable, value in zip(variables, made):
        np.testing.assert_allclose(value, variable, rtol=1e-5, err_msg=variable.path)
