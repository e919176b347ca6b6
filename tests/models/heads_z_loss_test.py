"""The z-loss is added in training to the losses over the vocabulary, and to no other."""

import numpy as np
import pytest

from firth.models import PretrainingModel
from firth.recipes import BidirectionalLM
from tests.models.table import TRAINED, VOCABULARY, shape_of, training_features
from tests.repeating import often

FACTOR = 0.1


@pytest.mark.parametrize(
    "name",
    often(
        ["masked_lm", "causal_lm", "replaced_token_detection", "bidirectional_lm"],
        ["masked_lm", "bidirectional_lm"],
    ),
)
def test_what_is_added_to_which_losses(name):
    objective, config = TRAINED[name][1], shape_of(name).model_dump()
    config = {**config, **{key: 0.0 for key in ("dropout", "output_dropout") if key in config}}
    if "attention" in config:
        config["attention"] = {**config["attention"], "dropout": 0.0}
    goal = objective.model_copy(update={"z_loss": FACTOR})
    made = PretrainingModel(config, goal, VOCABULARY, seed=1, dtype="float32")
    made.build()
    features = training_features(name)
    logits = made.logits(features)
    plain, trained = made(features, training=False), made(features, training=True)
    for loss, classes in goal.loss_classes.items():
        if name.startswith("replaced") and classes:
            continue  # What the generator draws differs in training.
        weights = np.array(plain[loss].weights) > 0
        added = np.array(trained[loss].losses) - np.array(plain[loss].losses)
        totals = np.log(np.exp(np.array(logits[loss], "float64")).sum(-1))
        expected = 0.0 * totals if classes else FACTOR * totals**2
        np.testing.assert_allclose(added[weights], expected[weights], atol=1e-4)
    assert any(not classes for classes in goal.loss_classes.values())


def test_a_sampled_softmax_has_no_sum_to_penalise():
    assert BidirectionalLM(z_loss=1e-4, negatives=None).z_losses == {"lm": 1e-4}
    with pytest.raises(ValueError, match="negatives: null"):
        BidirectionalLM(z_loss=1e-4)
