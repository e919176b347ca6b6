"""Task models on the layers of a bidirectional language model: packing, gradients, and what is frozen."""

import functools

import keras
import numpy as np
import pytest

from firth.models import TaskModel, example_sums, total_loss
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.forms import ELMoForm
from firth.recipes.tasks.tagging import Tagging
from tests.backends.gradients import gradients
from tests.models.table import CHARACTERS, OTHERS
from tests.repeating import often

FORM = ELMoForm(layers=1, cells=5, output_mix=True)
BARE = ELMoForm(layers=1, cells=5)
LABELS = ("a", "b", "c")
TASKS = {
    "one text": Classification(labels=LABELS, form=FORM),
    "two texts": Classification(labels=LABELS, pair=True, form=BARE),
    "a number of two": Regression(pair=True, form=FORM),
    "tags": Tagging(labels=("O", "B-A", "I-A"), form=FORM),
}
# Words and marks of the documents of a row, and padding after them.
DOCUMENTS, LENGTH = (4, 3, 5, 3), 16


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


def build(name) -> TaskModel:
    shape = OTHERS["elmo"].model_copy(update={"layers": 1})
    model = TaskModel(model=shape, task=TASKS[name], vocabulary_size=20, seed=3, dtype="float32")
    model.build()
    generator = np.random.default_rng(0)
    for weight in model.heads.weights:
        if weight.path.rsplit("/", 1)[-1] in ("scores", "transitions", "starts", "ends"):
            weight.assign(generator.normal(size=weight.shape))
    return model


@functools.cache
def built(name) -> TaskModel:
    """A model for tests that leave its weights as they are."""
    return build(name)


def features_of(task) -> dict[str, np.ndarray]:
    """A row of two documents for each record, or of one, with labels of all kinds."""
    generator = np.random.default_rng(1)
    ids = np.pad(np.repeat(np.arange(len(DOCUMENTS)) + 1, DOCUMENTS), (0, LENGTH - sum(DOCUMENTS)))
    marks = (ids == 0) | (ids != np.roll(ids, 1)) | (ids != np.roll(ids, -1))
    records = len(DOCUMENTS) // task.texts
    labels = generator.integers(0, 3, records)
    features = {
        "document_ids": ids,
        "characters": generator.integers(1, 262, (LENGTH, CHARACTERS)) * (ids > 0)[:, None],
        "pooled_positions": np.zeros(records),
        "record_labels": labels * np.float32(0.7) if task.label_type == "number" else labels,
        "record_weights": np.ones(records, "float32"),
        "label_ids": generator.integers(0, 3, LENGTH) * ~marks,
        "label_weights": (~marks).astype("float32"),
    }
    return {
        key: (value if value.dtype == "float32" else value.astype("int32"))[None]
        for key, value in features.items()
    }


def document(features, number, pad=2) -> dict[str, np.ndarray]:
    """One document of a row, with padding after it."""
    own = features["document_ids"][0] == number
    of_tokens = ("document_ids", "characters", "label_ids", "label_weights")
    alone = {name: features[name][:, own] for name in of_tokens}
    alone = {
        name: np.pad(each, [(0, 0), (0, pad), *[(0, 0)] * (each.ndim - 2)]) for name, each in alone.items()
    }
    return {**alone, "document_ids": np.minimum(alone["document_ids"], 1)}


def test_a_sentence_among_others_is_tagged_as_alone():
    model, features = built("tags"), features_of(TASKS["tags"])
    packed, logits = model(features)["tag"], model.logits(features)["tag"]
    chosen = numpy(model.heads.answer_scores(logits, features))
    shares = numpy(model.heads.probabilities(logits, features))
    losses = numpy(packed.losses) * features["label_weights"]
    assert np.isfinite(chosen).all() and (losses[features["label_weights"] > 0] > 0).all()
    for number in (1, 3):
        own = features["document_ids"][0] == number
        alone = document(features, number)
        found, scores = model(alone)["tag"], model.logits(alone)["tag"]
        size, inside = own.sum(), slice(1, own.sum() - 1)
        np.testing.assert_allclose(
            (numpy(found.losses) * alone["label_weights"])[0, :size], losses[0, own], atol=1e-5
        )
        best = numpy(model.heads.answer_scores(scores, alone))[0, :size]
        np.testing.assert_allclose(best[inside], chosen[0, own][inside], atol=1e-5)
        own_shares = numpy(model.heads.probabilities(scores, alone))[0, :size]
        np.testing.assert_allclose(own_shares[inside], shares[0, own][inside], atol=1e-5)
        np.testing.assert_allclose(own_shares[inside].sum(axis=-1), 1.0, atol=1e-5)
    hits = numpy(packed.correct) * features["label_weights"]
    np.testing.assert_array_equal(
        hits, (chosen.argmax(-1) == features["label_ids"]) * features["label_weights"]
    )


@pytest.mark.repeated
def test_two_texts_are_compared_with_each_other_alone():
    """The answer to a record changes with either of its texts, and with no other text of the row."""
    model, features = built("two texts"), features_of(TASKS["two texts"])
    before = numpy(model.logits(features)["label"])
    for number, record in ((2, 0), (3, 1)):
        place = np.flatnonzero(features["document_ids"][0] == number)[1]
        changed = {**features, "characters": features["characters"].copy()}
        changed["characters"][0, place] = 7
        moved = np.abs(numpy(model.logits(changed)["label"]) - before).max(axis=-1)[0]
        assert moved[record] > 1e-5 and moved[1 - record] < 1e-6


@pytest.mark.parametrize("name", often(TASKS, ["tags"]))
def test_every_weight_gets_a_gradient(name):
    model, features = build(name), features_of(TASKS[name])
    losses = TASKS[name].losses
    found = gradients(model, lambda: total_loss(example_sums(model(features)), losses)["loss"])
    assert len(found) == len(model.trainable_variables)
    for path, value in found.items():
        assert value is not None and np.isfinite(value).all() and np.abs(value).max() > 0, path


def test_what_is_frozen_has_no_dropout():
    model, features = build("one text"), features_of(TASKS["one text"])
    assert model.backbone.encoder.dropout.rate == 0.1
    model.heads.encoder.encoder.dropout.rate = model.heads.dropout.rate = 0.0
    before = numpy(model.logits(features)["label"])
    moved = numpy(model.logits(features, training=True)["label"])
    assert np.abs(moved - before).max() > 1e-4
    for weight in model.backbone.trainable_weights:
        weight.trainable = False
    np.testing.assert_allclose(numpy(model.logits(features, training=True)["label"]), before, atol=1e-6)
