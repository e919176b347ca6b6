"""Every head gives logits, and its losses are their cross-entropy with the labels."""

import functools

import keras
import numpy as np
import pytest

from firth import features as names
from firth.models import PretrainingModel
from tests.models.table import (
    BATCH,
    DOCUMENTS,
    ENCODER_DECODERS,
    LENGTH,
    TARGET_LENGTH,
    TRAINED,
    VOCABULARY,
    make_features,
    shape_of,
    training_features,
)
from tests.repeating import often

# JAX takes its time to compile; those left out differ in values.
LEFT_OUT = {"iid_denoising", "salient_spans"}
if keras.backend.backend() == "jax":
    LEFT_OUT |= {name for name in TRAINED if "," in name} | {"unilm", "prefix_lm", "span_corruption"}
NAMES = [name for name in TRAINED if name not in LEFT_OUT]
# Heads that are those of another case.
OF_OTHERS = (
    "unilm",
    "prefix_lm",
    "span_corruption",
    "causal_lm, table of its own",
    "masked_lm, mask decoder",
    "replaced_token_detection, mask decoder",
)
cases = pytest.mark.parametrize("name", often(NAMES, {*NAMES} - {*OF_OTHERS}))
OF_TWO_CLASSES = ("nsp", "sop", "rtd")


@functools.cache
def built(name) -> PretrainingModel:
    made = PretrainingModel(shape_of(name), TRAINED[name][1], VOCABULARY, seed=1, dtype="float32")
    made.build()
    return made


def numpy(tensor) -> np.ndarray:
    return keras.ops.convert_to_numpy(tensor)


def cross_entropy(logits, labels) -> np.ndarray:
    shifted = logits.astype("float64") - logits.max(-1, keepdims=True)
    totals = np.log(np.exp(shifted).sum(-1))
    return totals - np.take_along_axis(shifted, labels[..., None], -1)[..., 0]


def labels_of(loss, logits, made, features) -> np.ndarray:
    """The labels of a loss, made without the heads."""
    if loss in ("nsp", "sop"):
        return features[names.NEXT_SENTENCE_LABELS if loss == "nsp" else names.SENTENCE_ORDER_LABELS]
    if loss == "rtd":
        # Which tokens were replaced only the heads know, but whether they were right says it too.
        likeliest = logits.argmax(-1)
        return np.where(numpy(made.correct) == 1, likeliest, 1 - likeliest)
    if names.MASKED_LABELS in features:
        return features[names.MASKED_LABELS]
    both = [features[key] for key in (names.LABEL_IDS, names.BACKWARD_LABEL_IDS)]
    return np.concatenate(both, axis=1) if logits.shape[1] == 2 * LENGTH else both[0]


@cases
def test_a_loss_is_the_cross_entropy_of_its_logits(name):
    model, features = built(name), training_features(name)
    predictions, logits = model(features), model.logits(features)
    assert set(logits) == set(predictions) == set(TRAINED[name][1].losses)
    for loss, made in predictions.items():
        found, weights = numpy(logits[loss]), numpy(made.weights)
        assert found.dtype == np.float32
        assert found.shape == (*weights.shape, 2 if loss in OF_TWO_CLASSES else VOCABULARY)
        labels = labels_of(loss, found, made, features)
        expected = cross_entropy(found, labels) * (weights > 0)
        np.testing.assert_allclose(numpy(made.losses) * (weights > 0), expected, rtol=1e-4, atol=1e-4)
        hits = (found.argmax(-1) == labels)[weights > 0]
        np.testing.assert_array_equal(numpy(made.correct)[weights > 0], hits)


@cases
def test_logits_need_no_labels(name):
    """From what a backbone reads alone, every position is predicted."""
    model, read = built(name), make_features(TRAINED[name][0])
    read |= {key: value for key, value in training_features(name).items() if key == names.CHARACTERS}
    logits = model.logits(read)
    length = TARGET_LENGTH if TRAINED[name][0] in ENCODER_DECODERS else LENGTH
    lengths = {"nsp": 1, "sop": 1, "lm": 2 * length if TRAINED[name][0] == "elmo" else length}
    assert set(TRAINED[name][1].losses) - set(logits) <= {"sbo"}
    for loss, found in logits.items():
        classes = 2 if loss in OF_TWO_CLASSES else VOCABULARY
        assert tuple(found.shape) == (BATCH, lengths.get(loss, length), classes)
        assert np.isfinite(numpy(found)).all()


def test_logits_of_chosen_positions_are_those_of_all_at_these_positions():
    for name in ("masked_lm", "span_masking"):
        model, read = built(name), make_features(TRAINED[name][0])
        every = numpy(model.logits(read)["mlm"])
        chosen = np.array([[4, 0]] * BATCH, "int32")
        found = numpy(model.logits({**read, names.MASKED_POSITIONS: chosen})["mlm"])
        np.testing.assert_allclose(found, every[:, [4, 0]], rtol=1e-5, atol=1e-5)


def test_pairs_of_all_documents_stand_next_to_the_first_one_s():
    model, features = built("masked_lm"), training_features("masked_lm")
    every = numpy(model.logits(features)["nsp"])
    assert every.shape == (BATCH, len(DOCUMENTS), 2)
    del features[names.POOLED_POSITIONS]
    np.testing.assert_allclose(numpy(model.logits(features)["nsp"]), every[:, :1], rtol=1e-5, atol=1e-5)
