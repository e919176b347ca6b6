"""`enable_lora` on every kind of backbone and on a model with heads."""

import keras
import numpy as np
import pytest

from firth.tuning import TuningError, merge
from tests.models.models_checklist_test import build, numpy
from tests.models.models_keras_test import KINDS, backbone_of, tokens_of
from tests.models.table import training_features
from tests.repeating import often


@pytest.mark.parametrize("name", often([*KINDS.values(), "xlnet"], ["xlnet"]))
def test_enable_lora_trains_small_matrices_alone(name, tmp_path):
    backbone, features = backbone_of(name, layers=1), tokens_of(name)
    before = numpy(backbone(features))
    assert backbone.enable_lora(2) is backbone
    np.testing.assert_array_equal(numpy(backbone(features)), before)
    trained = [each.path.split("/")[-4:] for each in backbone.trainable_weights]
    assert {each[0] for each in trained} >= {"attention"} and all(each[2] == "lora" for each in trained)
    assert {each[1] for each in trained} == {"query", "value"}
    for weight in backbone.trainable_weights:
        weight.assign(np.random.default_rng(1).normal(size=weight.shape))
    changed = numpy(backbone(features))
    assert np.abs(changed - before).max() > 1e-2
    backbone.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(numpy(loaded(features)), changed, atol=1e-6)
    assert len(loaded.trainable_weights) == len(trained)
    for wrong in ({}, {"target_layer_names": ["output"]}):
        with pytest.raises(TuningError, match="enabled already"):
            backbone.enable_lora(2, **wrong)


def test_lora_of_a_model_with_heads_is_trained_saved_and_merged(tmp_path):
    model, features = build("masked_lm"), training_features("masked_lm")
    model.backbone.enable_lora(2, ["query", "inner"], lora_alpha=4)
    model.compile("sgd", run_eagerly=keras.backend.backend() != "jax")
    before = {each.path: numpy(each) for each in model.weights}
    model.fit(features, verbose=0)
    changed = {each.path for each in model.weights if np.abs(numpy(each) - before[each.path]).max()}
    assert {path.split("/")[1] for path in changed} == {"added", "heads"}
    logits = numpy(model.logits(features)["mlm"])
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(numpy(loaded.logits(features)["mlm"]), logits, atol=1e-5)
    merge(model)
    np.testing.assert_allclose(numpy(model.logits(features)["mlm"]), logits, atol=1e-4)
    assert not model.backbone.lora and not model.backbone.added.weights


@pytest.mark.parametrize(
    ("name", "wrong", "sentence"),
    [
        ("bert", {"rank": 0}, "rank"),
        ("bert", {"rank": 99}, "rank: 99.*16 is the greatest"),
        ("bert", {"rank": 2, "lora_alpha": 0}, "alpha"),
        ("bert", {"rank": 2, "target_layer_names": ["querry"]}, "target_layer_names: querry.*query"),
        ("elmo", {"rank": 2}, "target_layer_names"),
    ],
)
def test_lora_that_does_not_fit_is_named_and_changes_nothing(name, wrong, sentence):
    backbone = backbone_of(name, layers=1)
    with pytest.raises(ValueError, match=sentence):
        backbone.enable_lora(**wrong)
    assert (
        not backbone.lora
        and len(backbone.trainable_weights) == sum(each.trainable for each in backbone.weights) > 0
    )
