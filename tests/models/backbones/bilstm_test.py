"""The bidirectional language model: packing, carried state, its two losses, saving."""

import keras
import numpy as np
import pytest

from firth.models import PretrainingModel
from firth.models.backbones.bilstm import BiLSTMBackbone
from firth.recipes.models.bilstm import BiLSTMConfig
from firth.recipes.objectives.language_models import BidirectionalLM
from tests.backends.gradients import gradients

VOCABULARY, MAX_CHARACTERS, BATCH = 40, 9, 2
SHAPE = BiLSTMConfig.model_validate(
    {
        "layers": 2,
        "cells": 12,
        "projection_width": 6,
        "characters": {"width": 4, "max_characters": MAX_CHARACTERS, "filters": ((1, 4), (3, 5))},
        "cell_clip": 1.0,
        "projection_clip": 0.7,
        "initializer_stddev": 0.5,
    }
)


def make_model(negatives=None, layers=1, **changes):
    model = {**SHAPE.model_dump(), "layers": layers, **changes}
    objective = BidirectionalLM(negatives=negatives).model_dump()
    made = PretrainingModel(model, objective, VOCABULARY, seed=3)
    made.build()
    return made


def make_features(documents, seed=0):
    """Rows of documents of these lengths, and three positions of padding."""
    generator = np.random.default_rng(seed)
    ids = np.repeat(np.arange(len(documents)) + 1, documents)
    ids = np.tile(np.pad(ids, (0, 3)), (BATCH, 1)).astype("int32")
    shape = ids.shape
    real = ids > 0
    return {
        "document_ids": ids,
        "characters": generator.integers(1, 262, (*shape, MAX_CHARACTERS)).astype("int32") * real[..., None],
        "label_ids": generator.integers(0, VOCABULARY, shape).astype("int32") * real,
        "label_weights": real.astype("float32"),
        "backward_label_ids": generator.integers(0, VOCABULARY, shape).astype("int32") * real,
        "backward_label_weights": (real & (generator.random(shape) < 0.7)).astype("float32"),
    }


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


def part(features, start, end):
    return {name: value[:, start:end] for name, value in features.items()}


def test_packed_equals_alone_and_padding_changes_nothing():
    backbone = make_model(layers=2).backbone
    features = make_features((5, 3, 1))
    together = numpy(backbone.layer_outputs(features))
    for start, end in ((0, 5), (5, 8), (8, 9)):
        alone = {name: np.zeros_like(value) for name, value in features.items()}
        for name, value in features.items():
            alone[name][:, : end - start] = value[:, start:end]
        found = numpy(backbone.layer_outputs(alone))[:, :, : end - start]
        np.testing.assert_allclose(together[:, :, start:end], found, atol=1e-6)
    bare = numpy(backbone.layer_outputs(part(features, 0, 9)))
    np.testing.assert_allclose(together[:, :, :9], bare, atol=1e-6)
    np.testing.assert_allclose(numpy(backbone(features)), together[:, -1], atol=1e-6)
    np.testing.assert_array_equal(together[:, 1:, 9:], 0.0)


def test_each_half_reads_one_side():
    backbone = make_model().backbone
    features = make_features((8,))
    before = numpy(backbone(features))
    features["characters"][:, 4] = 7
    changed = (numpy(backbone(features)) != before).any((0, 2)), before
    forward, backward = np.split(np.abs(numpy(backbone(features)) - before).max(0), 2, axis=-1)
    assert changed[0].any()
    assert (forward.max(-1)[:8] > 0).tolist() == [place >= 4 for place in range(8)]
    assert (backward.max(-1)[:8] > 0).tolist() == [place <= 4 for place in range(8)]


def test_the_first_layer_is_the_words_twice():
    backbone = make_model(layers=2).backbone
    features = make_features((4,))
    words = numpy(backbone.words(features))
    found = numpy(backbone.layer_outputs(features))
    assert found.shape == (BATCH, 3, 7, 12)
    np.testing.assert_allclose(found[:, 0], np.concatenate([words, words], -1), atol=1e-6)


def test_skip_connections_begin_with_the_second_layer():
    with_skips = make_model(layers=2).backbone
    without = make_model(layers=2, skip_connections=False).backbone
    features = make_features((4,))
    one, other = (numpy(each.layer_outputs(features))[:, :, :4] for each in (with_skips, without))
    np.testing.assert_allclose(one[:, :2], other[:, :2], atol=1e-6)
    np.testing.assert_allclose(one[:, 2], other[:, 2] + other[:, 1], atol=1e-6)


def test_full_softmax_by_hand():
    model, features = make_model(), make_features((5, 4))
    made = model(features)["lm"]
    hidden = np.split(numpy(model.backbone(features)), 2, axis=-1)
    losses, correct = [], []
    for half, name in zip(hidden, ("label", "backward_label")):
        logits = half @ numpy(model.heads.table.value).T + numpy(model.heads.bias.value)
        labels = features[f"{name}_ids"][..., None]
        log_shares = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        losses.append(-np.take_along_axis(log_shares, labels, -1)[..., 0])
        correct.append(logits.argmax(-1) == labels[..., 0])
    weights = np.concatenate([features["label_weights"], features["backward_label_weights"]], axis=1)
    np.testing.assert_array_equal(numpy(made.weights), weights)
    losses, correct = (np.concatenate(halves, axis=1) for halves in (losses, correct))
    np.testing.assert_allclose(numpy(made.losses)[weights > 0], losses[weights > 0], atol=1e-5)
    np.testing.assert_array_equal(numpy(made.correct)[weights > 0], correct[weights > 0])


def test_an_untrained_model_says_words_by_their_place_in_the_vocabulary():
    features = make_features((5, 3))
    made = make_model(initializer_stddev=1e-6)(features)["lm"]
    labels = np.concatenate([features["label_ids"], features["backward_label_ids"]], axis=1)
    shares = np.log((labels + 2) / (labels + 1)) / np.log(VOCABULARY + 1)
    said, weights = numpy(made.losses), numpy(made.weights)
    np.testing.assert_allclose(said[weights > 0], -np.log(shares)[weights > 0], atol=1e-4)


def test_only_training_takes_a_sample():
    full, sampled = make_model(), make_model(negatives=15)
    features = make_features((5, 4))
    for model in (full, sampled):
        model.backbone.encoder.dropout.rate = model.heads.dropout.rate = 0.0
    exact = numpy(full(features)["lm"].losses)
    np.testing.assert_allclose(numpy(sampled(features)["lm"].losses), exact, atol=1e-6)
    np.testing.assert_allclose(numpy(full(features, training=True)["lm"].losses), exact, atol=1e-6)
    draws = [numpy(sampled(features, training=True)["lm"].losses) for _ in range(2)]
    assert (draws[0] != draws[1]).any() and (draws[0] != exact).any()
    assert make_model(negatives=VOCABULARY).heads.negatives is None


@pytest.mark.parametrize("negatives", [pytest.param(None, marks=pytest.mark.repeated), 15])
def test_every_weight_gets_a_gradient(negatives):
    model, features = make_model(negatives), make_features((5, 4))

    def loss():
        made = model(features, training=True)["lm"]
        return keras.ops.sum(made.losses * made.weights)

    for path, value in gradients(model, loss).items():
        assert np.isfinite(value).all() and np.abs(value).max() > 0, path


def without_dropout(**changes):
    return make_model(dropout=0.0, layers=2, **changes).backbone


def test_states_are_carried_in_training_alone():
    backbone = without_dropout(carry_state=True)
    features = make_features((5, 3))
    first, second = part(features, 0, 6), part(features, 6, 11)
    reference = without_dropout()
    zeros, stream = numpy(backbone(second)), {**features, "document_ids": features["document_ids"] > 0}
    backbone.carry(BATCH)
    one, two = (numpy(backbone(batch, training=True)) for batch in (first, second))
    np.testing.assert_allclose(numpy(backbone(second)), zeros, atol=1e-6)
    np.testing.assert_allclose(numpy(backbone.layer_outputs(second, training=True))[:, -1], zeros, atol=1e-6)
    assert np.abs(two - zeros).max() > 1e-3
    # The forward half reads one stream from batch to batch, over the bounds of documents.
    whole = numpy(reference({**stream, "document_ids": stream["document_ids"].astype("int32")}))
    forward = np.concatenate([one, two], axis=1)[:, :8, :6]
    np.testing.assert_allclose(forward, whole[:, :8, :6], atol=1e-6)


def test_the_carried_state_needs_its_number_of_rows(tmp_path):
    backbone, features = make_model(carry_state=True).backbone, make_features((4,))
    with pytest.raises(ValueError, match=r"backbone\.carry\(rows\)"):
        backbone(features, training=True)
    backbone.carry(3)
    with pytest.raises(ValueError, match=r"2 .*`carry_state` 3"):
        backbone(features, training=True)
    with pytest.raises(ValueError, match="carry_state=False"):
        make_model().backbone.carry(2)


@pytest.mark.parametrize("carry_state", [pytest.param(False, marks=pytest.mark.repeated), True])
def test_saved_and_loaded(tmp_path, carry_state):
    model, features = make_model(15, carry_state=carry_state), make_features((5, 4))
    if carry_state:
        model.backbone.carry(BATCH)
        model(features, training=True)
    expected = numpy(model(features)["lm"].losses)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(numpy(again(features)["lm"].losses), expected, atol=1e-6)
    assert again.backbone.get_config() == model.backbone.get_config()


def test_config_round_trip():
    backbone = BiLSTMBackbone(VOCABULARY, SHAPE, seed=5)
    again = BiLSTMBackbone.from_config(backbone.get_config())
    assert again.get_config() == backbone.get_config()
    again.build()
    backbone.build()
    for one, other in zip(again.get_weights(), backbone.get_weights()):
        np.testing.assert_array_equal(one, other)
    assert backbone.token_embedding is None and backbone.width == 12
