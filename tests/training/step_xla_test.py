"""XLA compiles the whole step of each family, and computes what TensorFlow computes."""

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.models import PretrainingModel
from firth.training.optimizers.optimizer_kinds import build_optimizer
from firth.training.step import build_train_step
from tests.models.table import BATCH, MODELS, OTHERS, TRAINED, VOCABULARY, training_features
from tests.tuning.additions_test import OPTIMIZER

# One of each family; the others of `TRAINED` have the same backbones.
FAMILIES = [
    "masked_lm",
    "causal_lm",
    "causal_lm, table of its own",
    "span_corruption",
    "bidirectional_lm",
    "permutation_lm",
]
MORE = ["replaced_token_detection", "denoising", "unilm", "prefix_lm"]


def take_steps(case, count=2, **how):
    """Returns the measures of some steps, and the weights after them; dropout follows from the examples."""
    model_name, objective = TRAINED[case]
    shape = {**MODELS, **OTHERS}[model_name].model_copy(update={"dropout": 0.1})
    model = PretrainingModel(shape, objective, VOCABULARY, seed=7)
    model.build()
    optimizer = build_optimizer(OPTIMIZER, 100)
    optimizer.build(model.trainable_variables)
    step = build_train_step(model, optimizer, objective.losses, tf.distribute.get_strategy(), 3, **how)
    keys = np.random.default_rng(5).integers(0, 2**31, (BATCH, 2)).astype("int32")
    features = {**training_features(case), names.NOISE_KEYS: keys}
    batch = {name: tf.constant(value) for name, value in features.items()}
    measured = [tf.nest.map_structure(float, step(batch)) for _ in range(count)]
    return measured, model.get_weights()


@pytest.mark.repeated
@pytest.mark.parametrize("case", [*FAMILIES, *MORE])
def test_xla_compiles_the_step_and_changes_nothing(case):
    """`jit_compile=True` is an error where XLA cannot compile a part."""
    (plain, weights), (compiled, others) = take_steps(case), take_steps(case, jit_compile=True)
    for one, other in zip(plain, compiled):
        for value, compared in zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True):
            assert compared == pytest.approx(value, rel=1e-4, abs=1e-6)
    for value, other in zip(weights, others, strict=True):
        np.testing.assert_allclose(value, other, rtol=0, atol=2e-5)
