"""Heads of tasks on a tiny encoder, on each backend: which losses they make, and that all weights learn."""

import keras
import numpy as np
import pytest

from firth.models import TaskModel, example_sums, total_loss
from firth.recipes.tasks.choice import MultipleChoice
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.forms import BERTForm, LastTokenForm
from firth.recipes.tasks.span import SpanAnswering
from firth.recipes.tasks.tagging import Tagging
from tests.backends.gradients import gradients
from tests.models.table import BATCH, LENGTH, MODELS, VOCABULARY, make_features

NO_DROPOUT = {"dropout": 0.0}
# For each, the task and the classes of its logits, the tokens of a row for spans and the choices for choices.
TASKS = {
    "classes": (Classification(labels=("a", "b", "c"), **NO_DROPOUT), 3),
    "tags": (Tagging(labels=("O", "B-A", "I-A"), **NO_DROPOUT), 3),
    "spans": (SpanAnswering(), LENGTH),
    "choices": (MultipleChoice(**NO_DROPOUT), 2),
}


def features_of() -> dict[str, np.ndarray]:
    """Rows of two documents, records or choices of one, with labels of all kinds."""
    features = make_features("bert")
    ids = features["document_ids"]
    starts = np.stack([(ids == number).argmax(axis=1) for number in (1, 2)], axis=1)
    integers = {
        "pooled_positions": starts,
        "record_labels": np.tile([1, 0], (BATCH, 1)),
        "choice_counts": np.tile([2, 0], (BATCH, 1)),
        "start_labels": starts,
        "end_labels": starts + 1,
        "label_ids": ids % 3,
    }
    weights = {"record_weights": np.tile([1.0, 0.0], (BATCH, 1)), "label_weights": ids > 0}
    return {
        **features,
        **{name: value.astype("int32") for name, value in integers.items()},
        **{name: value.astype("float32") for name, value in weights.items()},
    }


@pytest.mark.parametrize("name", TASKS)
def test_the_loss_is_the_cross_entropy_of_the_logits_and_all_of_the_head_learns(name):
    (task, classes), features = TASKS[name], features_of()
    model = TaskModel(model=MODELS["bert"], task=task, vocabulary_size=VOCABULARY, seed=3, dtype="float32")
    model.build()
    expected = 0.0
    for loss in task.loss_terms:
        logits = keras.ops.convert_to_numpy(model.logits(features)[loss.name]).astype("float64")
        assert logits.shape[-1] == classes
        labels, weights = map(np.asarray, model.heads.labels(features)[loss.name])
        normalised = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
        chosen = np.take_along_axis(normalised, labels[..., None], axis=-1)[..., 0]
        expected -= loss.weight * (chosen * weights).sum() / weights.sum()

    def compute():
        return total_loss(example_sums(model(features)), task.losses)["loss"]

    assert float(compute()) == pytest.approx(expected, abs=1e-5)
    found = gradients(model.heads, compute)
    assert found
    for path, value in found.items():
        # A number that is added to the scores of all choices changes none of their shares.
        assert np.isfinite(value).all() and (np.abs(value).max() > 0 or name == "choices"), path


@pytest.mark.parametrize(
    "form",
    [pytest.param(BERTForm(), marks=pytest.mark.repeated), LastTokenForm()],
    ids=lambda form: form.kind,
)
def test_a_number_starts_from_the_mean_where_the_head_has_a_bias(form):
    shared = {"model": MODELS["bert"], "vocabulary_size": VOCABULARY, "seed": 3, "dtype": "float32"}
    with_mean, without = (
        TaskModel(task=Regression(form=form, mean=mean, **NO_DROPOUT), **shared) for mean in (2.5, None)
    )
    found = []
    for model in (with_mean, without):
        model.build()
        found.append(keras.ops.convert_to_numpy(model.logits(features_of())["value"]))
    np.testing.assert_allclose(found[0] - found[1], 2.5 if form.has_bias else 0.0, atol=1e-6)
