"""Keras's own features with every backbone and with the models with heads."""

import json

import keras
import numpy as np
import pytest

from firth import features as names
from firth.models import BACKBONES, TaskModel, build_pretraining_model
from firth.models.features_model import MissingFeatureError
from firth.recipes.tasks.classification import Classification
from firth.recipes.tasks.forms import LastTokenForm
from firth.recipes.tasks.span import SpanAnswering
from tests.fresh_process import run_python
from tests.models.models_checklist_test import build, numpy
from tests.models.table import (
    BATCH,
    CHARACTERS,
    LENGTH,
    MODELS,
    OTHERS,
    TRAINED,
    VOCABULARY,
    make_features,
    tiny_recipe,
    training_features,
)
from tests.repeating import often

# One of each kind of backbone.
KINDS = {model.kind: name for name, model in reversed(MODELS.items())}
backbones = pytest.mark.parametrize("name", often(KINDS.values(), ["t5", "gpt2"]))
all_backbones = pytest.mark.parametrize("name", often([*KINDS.values(), *OTHERS], ["t5", "xlnet"]))
trained = pytest.mark.parametrize("name", often(["masked_lm", "causal_lm"], ["causal_lm"]))
on_tensorflow = pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="is of TensorFlow")


def backbone_of(name, **changed):
    model = {**MODELS, **OTHERS}[name]
    return BACKBONES[model.kind](VOCABULARY, model.model_copy(update=changed), seed=1)


def tokens_of(name):
    """The tokens of each side, which nothing fills in, and rows of one document and no padding."""
    generator = np.random.default_rng(5)
    if name == "elmo":
        return {names.CHARACTERS: generator.integers(1, 262, (BATCH, LENGTH, CHARACTERS)).astype("int32")}
    ids = (names.TOKEN_IDS, names.DECODER_TOKEN_IDS)
    return {
        key: generator.integers(1, VOCABULARY, each.shape).astype("int32")
        for key, each in make_features(name).items()
        if key in ids
    }


def mask_name(tokens):
    return names.DECODER_PADDING_MASK if tokens == names.DECODER_TOKEN_IDS else names.PADDING_MASK


def padded(tokens, left, count=2):
    """Other tokens on a side of each row, and the masks that hide them."""

    def put(values, value):
        room = [(0, 0)] * values.ndim
        room[1] = (left * count, (1 - left) * count)
        return np.pad(values, room, constant_values=value)

    masks = {mask_name(key): put(np.ones(each.shape[:2], bool), False) for key, each in tokens.items()}
    return {key: put(each, 3) for key, each in tokens.items()}, masks


class Real(keras.layers.Layer):
    """Hands ids on with the Keras mask of those that are not 3."""

    def call(self, ids):
        return ids * 1

    def compute_mask(self, ids, previous_mask=None):
        return keras.ops.not_equal(ids, 3)


@backbones
def test_a_summary_before_and_after_it_is_built_and_called(name):
    backbone = backbone_of(name, layers=1)
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
    backbone = backbone_of(name, layers=1)
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


# A graph has each layer. What exports is in the class of all backbones. BERT is exported with heads below.
EXPORTED = [
    pytest.param(name, name == "gpt2", marks=[pytest.mark.repeated] * (name != "gpt2"))
    for name in KINDS.values()
]


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


@all_backbones
def test_features_that_follow_from_tokens_are_filled_in(name):
    backbone, tokens = backbone_of(name, layers=1), tokens_of(name)
    whole = {}
    for key, each in tokens.items():
        side = "decoder_" * (key == names.DECODER_TOKEN_IDS)
        ones = np.ones(each.shape[:2], "int32")
        whole |= {f"{side}document_ids": ones, f"{side}position_ids": ones.cumsum(1).astype("int32") - 1}
    expected = numpy(backbone({**tokens, **whole, "segment_ids": 0 * ones}))
    np.testing.assert_array_equal(numpy(backbone(tokens)), expected)
    np.testing.assert_array_equal(numpy(backbone({key: x.tolist() for key, x in tokens.items()})), expected)
    # Other tokens, which a mask hides before or after, change no state.
    for left in (0, 1):
        longer, masks = padded(tokens, left)
        real = slice(2, None) if left else slice(0, -2)
        kind = ("bool", "int32")[left]
        found = numpy(backbone({**longer, **{key: x.astype(kind) for key, x in masks.items()}}))
        np.testing.assert_allclose(found[:, real], expected, atol=1e-5)
        # Tokens after it change nothing for a decoder.
        assert not left or np.abs(numpy(backbone(longer))[:, real] - expected).max() > 1e-3
    # A mask next to documents hides more, and rows of several documents have positions of their own.
    packed = {**make_features(name), **tokens}
    less = {key: each for key, each in packed.items() if "position_ids" not in key}
    np.testing.assert_allclose(numpy(backbone(less)), numpy(backbone(packed)), atol=1e-6)
    hidden = {
        key: np.where(each == 2, 0, each) if "document" in key else each for key, each in packed.items()
    }
    masks = {
        mask_name(key): packed[mask_name(key).replace("padding_mask", "document_ids")] != 2 for key in tokens
    }
    np.testing.assert_allclose(numpy(backbone({**packed, **masks})), numpy(backbone(hidden)), atol=1e-6)


@pytest.mark.parametrize("name", often(["bert", "t5"], ["t5"]))
def test_masks_of_keras_and_missing_features_in_the_functional_api(name, tmp_path):
    backbone, (tokens, masks) = backbone_of(name, layers=1), padded(tokens_of(name), left=0)
    tokens = {
        key: np.where(np.pad(np.ones((BATCH, each.shape[1] - 2)), ((0, 0), (0, 2))) * (each == 3), 4, each)
        for key, each in tokens.items()
    }
    inputs = {key: keras.Input((None,), dtype="int32", name=key) for key in tokens}
    states = backbone({key: Real(name=f"real_{key}")(each) for key, each in inputs.items()})
    found = keras.Model(inputs, [states, keras.layers.GlobalAveragePooling1D()(states)])(tokens)
    expected = numpy(backbone({**tokens, **masks}))
    np.testing.assert_allclose(numpy(found[0]), expected, atol=1e-5)
    np.testing.assert_allclose(numpy(found[1]), expected[:, :-2].mean(1), atol=1e-5)
    inputs |= {key: keras.Input((None,), dtype="bool", name=key) for key in masks}
    whole = keras.Model(inputs, keras.layers.Dense(2)(backbone(inputs)))
    whole.save(tmp_path / "whole.keras")
    loaded = keras.saving.load_model(tmp_path / "whole.keras")
    np.testing.assert_allclose(
        numpy(loaded({**tokens, **masks})), numpy(whole({**tokens, **masks})), atol=1e-6
    )


def test_the_features_of_rows_that_cannot_be_filled_in_are_named():
    tokens = tokens_of("bert")
    bert, t5 = backbone_of("bert", layers=1), backbone_of("t5", layers=1)
    for wrong, key in (
        ({"token_ids": tokens["token_ids"][0]}, "token_ids"),
        ({**tokens, "padding_mask": np.ones(LENGTH)}, "padding_mask"),
        ({**tokens, "padding_mask": np.ones((BATCH, LENGTH - 1))}, "padding_mask"),
    ):
        with pytest.raises(ValueError, match=key):
            bert(wrong)
    with pytest.raises(MissingFeatureError, match="no 'token_ids'"):
        bert({"padding_mask": np.ones((BATCH, LENGTH))})
    with pytest.raises(MissingFeatureError, match="no 'decoder_token_ids'"):
        t5(tokens)
    # Nothing is known of the decoder's documents if only the encoder's are given.
    both = tokens_of("t5")
    with pytest.raises(MissingFeatureError, match="no 'decoder_document_ids'"):
        t5({**both, "document_ids": np.ones(both["token_ids"].shape)})


def test_a_call_with_all_features_makes_no_others():
    features = make_features("bert")
    assert backbone_of("bert").complete(features) is features


@pytest.mark.parametrize(
    ("name", "part"),
    [("bert", "embed"), ("t5", "encode"), ("shared t5", "encoder_states"), ("elmo", "layer_outputs")],
)
def test_parts_of_a_backbone_read_tokens_alone_too(name, part):
    backbone, tokens = backbone_of(name, layers=1), tokens_of(name)
    own = {key: each for key, each in tokens.items() if key != names.DECODER_TOKEN_IDS}
    expected = numpy(getattr(backbone, part)(backbone.complete(tokens)))
    np.testing.assert_allclose(numpy(getattr(backbone, part)(own)), expected, atol=1e-6)


@backbones
def test_features_that_are_missing_are_named(name):
    backbone, features = backbone_of(name, layers=1), make_features(name)
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
    # Predicted in a graph; the rest op by op, which JAX cannot.
    eagerly = keras.backend.backend() != "jax"
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
    model.compile("sgd", run_eagerly=eagerly)
    before = model.evaluate(features, verbose=0, return_dict=True)
    model.predict(without, verbose=0)
    assert model.evaluate(features, verbose=0, return_dict=True) == before
    with pytest.raises(MissingFeatureError, match="no 'token_ids'"):
        model({key: value for key, value in features.items() if key != "token_ids"})


@pytest.mark.parametrize(
    "name",
    often(
        ["masked_lm", "causal_lm", "permutation_lm", "denoising", "bidirectional_lm"],
        # Features with predicted positions; those of two sides are a backbone's above.
        ["permutation_lm"],
    ),
)
def test_tokens_alone_have_logits_and_are_trained_on(name):
    model, tokens = build(name), tokens_of(TRAINED[name][0])
    model.compile("sgd", run_eagerly=keras.backend.backend() != "jax")
    logits = model.logits(tokens)
    (longer, masks), real = padded(tokens, left=0), next(iter(tokens.values())).shape[1]
    for key, value in model.predict({**longer, **masks}, verbose=0).items():
        if name == "denoising":
            real = tokens[names.DECODER_TOKEN_IDS].shape[1]
        if name != "bidirectional_lm":
            np.testing.assert_allclose(value[:, :real], numpy(logits[key]), rtol=1e-4, atol=1e-4)
    features = training_features(name)
    filled = {
        f"{side}{key}" for key in ("position_ids", "document_ids", "segment_ids") for side in ("", "decoder_")
    }
    features = {key: value for key, value in features.items() if key not in filled} | tokens
    before = {each.path: numpy(each) for each in model.trainable_weights}
    losses = [model.evaluate(each, verbose=0) for each in (features, dict(model.complete(features)))]
    np.testing.assert_allclose(*losses, rtol=1e-5)
    model.fit(features, verbose=0)
    assert all(np.abs(numpy(each) - before[each.path]).max() for each in model.trainable_weights[:1])


@pytest.mark.parametrize(
    ("task", "place"),
    [
        pytest.param(Classification(labels=("a", "b", "c")), 0, id="first", marks=pytest.mark.repeated),
        pytest.param(Classification(labels=("a", "b"), form=LastTokenForm()), LENGTH - 1, id="last"),
        pytest.param(Classification(labels=("a", "b", "c"), pair=True), 0, id="pair"),
        pytest.param(SpanAnswering(), 0, id="spans", marks=pytest.mark.repeated),
    ],
)
def test_a_task_reads_tokens_alone(task, place):
    shape = MODELS["bert"].model_copy(update={"layers": 1})
    model = TaskModel(model=shape, task=task, vocabulary_size=VOCABULARY, seed=3)
    # One in a graph.
    if place or isinstance(task, SpanAnswering):
        model.compile("sgd", run_eagerly=keras.backend.backend() != "jax")
    tokens = tokens_of("bert")
    at = model.logits({**tokens, "pooled_positions": np.full((BATCH, 1), place, "int32")})
    for found in (model.logits(tokens), model.predict(tokens, verbose=0)):
        for key, value in found.items():
            np.testing.assert_allclose(numpy(value), numpy(at[key]), atol=1e-5)
    for left in (0, 1):
        longer, masks = padded(tokens, left)
        for key, value in model.logits({**longer, **masks}).items():
            moved = 2 * left if isinstance(task, SpanAnswering) else 0
            value = numpy(value)[..., moved : moved + at[key].shape[-1]]
            np.testing.assert_allclose(value, numpy(at[key]), atol=1e-5)


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
import sys

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from firth.models import build_pretraining_model
from tests.models.table import shape_of, tiny_recipe, training_features

features = training_features("masked_lm")
with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    model = build_pretraining_model(tiny_recipe(shape_of("masked_lm")))
    model.compile("sgd", jit_compile=False, run_eagerly=sys.argv[1] == "eagerly")
data = tf.data.Dataset.from_tensor_slices(features).repeat().batch(2, drop_remainder=True)
history = model.fit(data, steps_per_epoch=1, epochs=2, verbose=0).history
print(json.dumps({"loss": history["loss"], "devices": model.distribute_strategy.num_replicas_in_sync}))
"""


@on_tensorflow
@pytest.mark.parametrize("how", often(["eagerly", "compiled"], ["eagerly"]))
def test_fit_on_two_devices_without_a_call_before(how):
    done = run_python(["-c", MIRRORED, how], check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["devices"] == 2 and found["loss"][-1] < found["loss"][0]
