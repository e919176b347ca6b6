"""Properties of each method that adds something, on each kind of backbone in the tables."""

import numpy as np
import pytest
import tensorflow as tf

from firth.models import PretrainingModel
from firth.models.additions.addition_kinds import replace_training_additions
from firth.models.bundle import weights_by_path
from firth.models.model_kinds import BACKBONES
from firth.training.optimizers.optimizer_kinds import build_optimizer
from firth.training.step import build_train_step
from firth.tuning import METHODS, TuningError, merge
from tests.models.table import MODELS, OTHERS, TRAINED, VOCABULARY, training_features
from tests.tuning.additions_test import OPTIMIZER
from tests.tuning.table import ADDING, may_train, small

# One of each kind of backbone, and which of them may have no place for what a method adds.
CASES = ["masked_lm", "causal_lm, table of its own", "span_corruption", "permutation_lm", "bidirectional_lm"]
MAY_REFUSE = {"permutation_lm", "bidirectional_lm"}
# Those that differ in what they keep: ranks that change, products, scales, blocks, keys and prompts.
OFTEN = {"adalora", "loha", "ia3", "houlsby", "prefix_tuning", "prompt_tuning"}
# What counts as the same logits, as a share of the largest. Training must move them at least a
# hundred times as far, or a merge that lost everything could pass for the same.
SAME = 1e-5
MOVED = 100 * SAME


@pytest.fixture(autouse=True)
def eagerly():
    """Steps that are not compiled, which takes longer than they do."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def logits_of(model, case) -> np.ndarray:
    found = model.logits(training_features(case))
    return np.concatenate([np.array(each).reshape(-1) for each in found.values()])


def train(model, case, method, steps=2):
    for observer in model.added.observers:
        observer.plan(9)
    optimizer = build_optimizer(OPTIMIZER, 100)
    optimizer.build(model.trainable_variables)
    step = build_train_step(model, optimizer, TRAINED[case][1].losses, tf.distribute.get_strategy(), 3)
    for _ in range(steps):
        step({name: tf.constant(value) for name, value in training_features(case).items()})


def test_the_cases_have_every_kind_of_backbone():
    assert {{**MODELS, **OTHERS}[TRAINED[case][0]].kind for case in CASES} == set(BACKBONES)


@pytest.mark.parametrize(
    "kind, case",
    [
        pytest.param(kind, case, marks=() if case == "masked_lm" and kind in OFTEN else pytest.mark.repeated)
        for kind in ADDING
        for case in CASES
    ],
)
def test_it_starts_as_promised_trains_what_it_declares_and_becomes_what_is_kept(kind, case):
    name, objective = TRAINED[case]
    layers = 1 if case == "masked_lm" else 2
    shape = {**MODELS, **OTHERS}[name].model_copy(update={"layers": layers})
    model = PretrainingModel(shape, objective, VOCABULARY, seed=1, name="model")
    model.build()
    method, at_first = small(kind), logits_of(model, case)
    scale = np.abs(at_first).max()
    try:
        METHODS[kind](model, method, 1)
    except TuningError as error:
        assert case in MAY_REFUSE and not method.merges and f"method.kind: {kind}" in str(error)
        return
    started = logits_of(model, case)
    assert np.allclose(started / scale, at_first / scale, atol=SAME) == method.starts_as_base
    before = {path: each.numpy() for path, each in weights_by_path(model).items()}
    train(model, case, method)
    after = weights_by_path(model)
    moved = {path for path, each in before.items() if (each != after[path].numpy()).any()}
    trained = {path for path, each in after.items() if each.trainable}
    added = {path for path in before if path.startswith("added/")}
    assert added & trained and added & trained <= moved
    assert moved <= trained | added and trained <= moved | {p for p in trained if p.startswith("heads/")}
    assert all(may_train(method, path) for path in trained)
    found = logits_of(model, case)
    assert np.abs(found - started).max() > MOVED * scale
    replace_training_additions(model, method)
    if method.merges:
        merge(model)
        assert set(weights_by_path(model)) == set(before) - added and not model.added.held
    else:
        with pytest.raises(TuningError, match=kind):
            merge(model)
    np.testing.assert_allclose(logits_of(model, case) / scale, found / scale, atol=SAME)
