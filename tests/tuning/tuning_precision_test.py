"""Steps in mixed precision train what each method declares, and leave every other weight bit for bit."""

import numpy as np
import pytest
import tensorflow as tf

from firth.models import PretrainingModel
from firth.models.bundle import weights_by_path
from firth.recipes.training.optimizers import AdamWConfig
from firth.recipes.tuning.methods import method_types
from firth.recipes.tuning.prompts import PromptMethod
from firth.training.optimizers.optimizer_kinds import build_optimizer
from firth.training.step import build_train_step
from firth.tuning import METHODS
from tests.models.table import MODELS, TRAINED, VOCABULARY, training_features
from tests.tuning.table import ADDING, may_train, small

MASKED, CAUSAL = "masked_lm", "causal_lm, table of its own"
STEPS = 5
# So small that no step overshoots, and large enough to be seen next to the rounding of bfloat16.
OPTIMIZER = AdamWConfig(learning_rate=2e-3, warmup_steps=0, schedule="constant", weight_decay=0.5)
OF_PROMPTS = [kind for kind in ADDING if issubclass(method_types()[kind], PromptMethod)]
CASES = [*((kind, MASKED) for kind in ADDING), *((kind, CAUSAL) for kind in OF_PROMPTS)]


def losses_of_steps(model, method, case):
    """The loss before each of some steps on the same rows."""
    METHODS[method.kind](model, method, 1)
    for observer in model.added.observers:
        observer.plan(2 * STEPS)
    optimizer = build_optimizer(OPTIMIZER, 100)
    optimizer.build(model.trainable_variables)
    step = build_train_step(model, optimizer, TRAINED[case][1].losses, tf.distribute.get_strategy(), 3)
    rows = {name: tf.constant(value) for name, value in training_features(case).items()}
    before = {path: each.numpy() for path, each in weights_by_path(model).items()}
    return [float(step(rows).loss) for _ in range(STEPS)], before


@pytest.mark.repeated
@pytest.mark.parametrize("kind, case", CASES)
def test_steps_in_bfloat16_train_what_is_declared_and_nothing_else(kind, case):
    name, objective = TRAINED[case]
    attention = MODELS[name].attention.model_copy(update={"dropout": 0.0})
    shape = MODELS[name].model_copy(update={"dropout": 0.0, "attention": attention})
    model = PretrainingModel(shape, objective, VOCABULARY, seed=1, dtype="mixed_bfloat16", name="model")
    model.build()
    # No entry that AdaLoRA has trained is taken away again.
    method = small(kind, initial_steps=STEPS)
    losses, before = losses_of_steps(model, method, case)
    assert np.isfinite(losses).all() and losses[-1] < losses[0]
    after = weights_by_path(model)
    assert all(each.dtype == "float32" for path, each in after.items() if path.startswith("added/"))
    moved = {path for path, each in before.items() if (each != after[path].numpy()).any()}
    trained = {path for path, each in after.items() if each.trainable}
    added = {path for path in before if path.startswith("added/")}
    assert added & trained and added & trained <= moved <= trained | added
    assert all(may_train(method, path) for path in moved)
