"""What a Keras user types, on every backbone and on the models with heads."""

import json

import keras
import numpy as np
import pytest

from firth.models import BACKBONES, build_pretraining_model
from firth.models.features_model import MissingFeatureError
from tests.fresh_process import run_python
from tests.models.models_checklist_test import build, numpy
from tests.models.table import MODELS, TRAINED, VOCABULARY, make_features, tiny_recipe, training_features

# One of each kind of backbone.
KINDS = {model.kind: name for name, model in reversed(MODELS.items())}
backbones = pytest.mark.parametrize("name", KINDS.values())
trained = pytest.mark.parametrize("name", ["masked_lm", "causal_lm"])
on_tensorflow = pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="is of TensorFlow")


def backbone_of(name, **changed):
    return BACKBONES[MODELS[name].kind](VOCABULARY, MODELS[name].model_copy(update=changed), seed=1)


@backbones
def test_a_summary_before_and_after_it_is_built_and_called(name):
    backbone = backbone_of(name)
    lines: list[str] = []
    for step in (lambda: None, backbone.build, lambda: backbone(make_features(name))):
        step()
        lines.clear()
        backbone.summary(print_fn=lambda line, **_: lines.append(line), expand_nested=True)
        assert any("Total params" in line for line in lines)
    assert f"{backbone.count_params():,}" in "".join(lines)


@backbones
def test_in_the_functional_api_cloned_and_saved(name, tmp_path):
    features = make_features(name)
    inputs = {
        key: keras.Input(each.shape[1:], dtype=str(each.dtype), name=key) for key, each in features.items()
    }
    backbone = backbone_of(name)
    whole = keras.Model(inputs, keras.layers.Dense(2)(backbone(inputs)))
    whole.save(tmp_path / "whole.keras")
    loaded = keras.saving.load_model(tmp_path / "whole.keras")
    np.testing.assert_allclose(numpy(loaded(features)), numpy(whole(features)), atol=1e-6)
    cloned = keras.models.clone_model(backbone)
    assert cloned.get_config() == {**backbone.get_config(), "name": cloned.name}
    found = backbone.compute_output_spec(
        {key: keras.KerasTensor(each.shape) for key, each in features.items()}
    )
    assert tuple(found.shape) == tuple(backbone(features).shape)


# A graph has each layer. What exports is in the class of all backbones.
EXPORTED = [(name, number == 1) for number, name in enumerate(KINDS.values())]


@on_tensorflow
@pytest.mark.parametrize(("name", "called"), EXPORTED)
def test_an_export_serves_rows_of_any_length(name, called, tmp_path):
    import tensorflow as tf

    backbone, features = backbone_of(name, layers=1), make_features(name)
    if called:
        backbone(features)
    backbone.export(tmp_path / "model", verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    needed = {key: features[key] for key in backbone.feature_specs}
    for length in (12, 9):
        cut = {key: tf.constant(each[:2, :length]) for key, each in needed.items()}
        np.testing.assert_allclose(numpy(loaded.serve(cut)), numpy(backbone(cut)), atol=1e-5)


@backbones
def test_features_that_are_missing_are_named(name):
    backbone, features = backbone_of(name), make_features(name)
    for key in backbone.feature_specs:
        misspelt = {f"{key}x" if each == key else each: value for each, value in features.items()}
        with pytest.raises(
            MissingFeatureError, match=rf"no '{key}'; they have .*{key}x.*did you mean {key}x"
        ):
            backbone(misspelt)
    with pytest.raises(MissingFeatureError, match=r"dict of tensors by name.*token_ids|characters"):
        backbone(np.ones((2, 4), "int32"))


@trained
def test_labels_that_are_missing_are_named_and_predict_needs_none(name, tmp_path):
    model, features = build(name), training_features(name)
    label = {"masked_lm": "masked_labels", "causal_lm": "label_ids"}[name]
    without = {
        key: value for key, value in features.items() if not key.endswith(("labels", "weights", "label_ids"))
    }
    for wrong in (without, {**without, f"{label}s": features[label]}):
        with pytest.raises(MissingFeatureError, match=f"no '{label}'; they have"):
            model(wrong)
    logits = model.logits(without)
    for found in (model.predict(without, verbose=0), model.predict_on_batch(without)):
        assert set(found) == set(TRAINED[name][1].losses)
        for key, value in found.items():
            np.testing.assert_allclose(value, numpy(logits[key]), rtol=1e-4, atol=1e-4)
    # Other calls are as before.
    assert model(features)[next(iter(logits))].losses.shape[0] == len(features[label])
    # In a graph above; op by op, which JAX cannot, no other is traced.
    model.compile("sgd", run_eagerly=keras.backend.backend() != "jax")
    before = model.evaluate(features, verbose=0, return_dict=True)
    model.predict(without, verbose=0)
    assert model.evaluate(features, verbose=0, return_dict=True) == before
    with pytest.raises(MissingFeatureError, match="no 'position_ids'"):
        model({key: value for key, value in features.items() if key != "position_ids"})


@on_tensorflow
def test_an_export_of_a_model_with_heads_gives_logits(tmp_path):
    import tensorflow as tf

    model, features = build("masked_lm"), training_features("masked_lm")
    model.compile("sgd", run_eagerly=True)
    model.fit(features, verbose=0)
    model.export(tmp_path / "model", verbose=False)
    given = {key: tf.constant(features[key]) for key in model.feature_specs}
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    found = loaded.serve(given)
    for key, value in model.logits(given).items():
        np.testing.assert_allclose(numpy(found[key]), numpy(value), atol=1e-4)


def test_a_global_policy_is_that_of_a_model():
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        assert build_pretraining_model(tiny_recipe()).compute_dtype == "bfloat16"
        assert build_pretraining_model(tiny_recipe(), dtype="float32").compute_dtype == "float32"
    finally:
        keras.config.set_dtype_policy("float32")
    assert build_pretraining_model(tiny_recipe()).compute_dtype == "float32"


MIRRORED = """
import json

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from firth.models import build_pretraining_model
from tests.models.table import shape_of, tiny_recipe, training_features

features = training_features("masked_lm")
with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    model = build_pretraining_model(tiny_recipe(shape_of("masked_lm")))
    model.compile("sgd", jit_compile=False)
data = tf.data.Dataset.from_tensor_slices(features).repeat().batch(2, drop_remainder=True)
history = model.fit(data, steps_per_epoch=1, epochs=2, verbose=0).history
print(json.dumps({"loss": history["loss"], "devices": model.distribute_strategy.num_replicas_in_sync}))
"""


@on_tensorflow
def test_fit_on_two_devices_without_a_call_before():
    done = run_python(["-c", MIRRORED], check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["devices"] == 2 and found["loss"][-1] < found["loss"][0]
