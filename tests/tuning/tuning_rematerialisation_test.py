"""Blocks that are computed again in the backward pass change neither loss nor gradients of any method."""

import numpy as np
import pytest

from firth import features as names
from firth.layers.elements import rematerialisation
from firth.models import PretrainingModel, example_sums, total_loss
from firth.recipes.tuning.methods import method_types
from firth.tuning import METHODS, TuningError
from tests.backends.gradients import gradients
from tests.models.table import BATCH, MODELS, OTHERS, TRAINED, VOCABULARY, training_features
from tests.tuning.table import small

# One of each kind of backbone, and one whose layers share their weights.
CASES = [
    "masked_lm",
    "masked_lm, order of sentences",
    "causal_lm, table of its own",
    "span_corruption",
    "permutation_lm",
    "bidirectional_lm",
]
MAY_REFUSE = {"permutation_lm", "bidirectional_lm"}
# Its head reads the token table.
HAS_NO_HEAD = "span_corruption"
# `make test` has these alone: an addition to projections, one to sublayers, one to keys and values.
OFTEN = [(kind, "masked_lm") for kind in ("lora", "prefix_tuning")]
KEYS = np.arange(1, 2 * BATCH + 1, dtype="int32").reshape(BATCH, 2)


def made_by(kind, case, again):
    """A model that a method has prepared, with drawn values in what was added, and the method's losses."""
    name, objective = TRAINED[case]
    shape = {**MODELS, **OTHERS}[name]
    if case == "masked_lm":
        shape = shape.model_copy(update={"layers": 1})
    model = PretrainingModel(shape, objective, VOCABULARY, seed=3, name="model")
    model.build()
    # Recurrent projections take no dropout.
    dropout = 0.0 if case == "bidirectional_lm" else 0.1
    method = small(kind, dropout=dropout) if kind != "last_layers" else method_types()[kind](layers=1)
    METHODS[kind](model, method, 1)
    generator = np.random.default_rng(5)
    for weight in model.added.trainable_weights:
        weight.assign(weight + generator.normal(0.0, 0.05, weight.shape))
    if again:
        rematerialisation.rematerialise_blocks(model)
    return model, objective.losses


def loss_and_gradients(kind, case, again):
    """The loss, and the gradient of each weight that is trained, with dropout."""
    model, losses = made_by(kind, case, again)
    features = training_features(case) | {names.NOISE_KEYS: KEYS}

    def loss():
        found = total_loss(example_sums(model(features, training=True)), losses)["loss"]
        return found + sum(model.losses)

    made = []
    found = gradients(model, lambda: made.append(loss()) or made[0])
    # Weights that no loss reads, as those of a decoder's last norm, have none.
    return float(made[0]), {path: each for path, each in found.items() if each is not None}, model


@pytest.mark.parametrize(
    "kind, case",
    [
        pytest.param(kind, case, marks=() if (kind, case) in OFTEN else pytest.mark.repeated)
        for case in CASES
        for kind in METHODS
    ],
)
def test_loss_and_gradients_are_those_of_blocks_that_are_kept(kind, case, monkeypatch):
    calls, original = [], rematerialisation.rematerialised

    def counted(*inputs, **more):
        calls.append(1)
        return original(*inputs, **more)

    monkeypatch.setattr(rematerialisation, "rematerialised", counted)
    try:
        loss, expected, _ = loss_and_gradients(kind, case, again=False)
    except TuningError:
        assert case in MAY_REFUSE or (kind, case) == ("head", HAS_NO_HEAD)
        return
    assert not calls
    again, found, model = loss_and_gradients(kind, case, again=True)
    assert calls and again == pytest.approx(loss, rel=1e-5)
    assert found.keys() == expected.keys() <= {each.path for each in model.trainable_variables}
    largest = max(np.abs(each).max() for each in expected.values())
    assert largest > 0
    for path, each in expected.items():
        np.testing.assert_allclose(found[path] / largest, each / largest, rtol=0, atol=1e-5, err_msg=path)
