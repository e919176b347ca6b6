"""Keras's own `compile`, `fit` and `evaluate` on the model that pre-trains."""

import keras
import numpy as np
import pytest

from firth.models import BACKBONES, PretrainingModel, example_sums, total_loss
from tests.models.models_checklist_test import build, numpy
from tests.models.table import BATCH, MODELS, TRAINED, VOCABULARY, shape_of, training_features


def batches(name, count=2):
    return [training_features(name, seed) for seed in range(count)]


def joined(rows):
    return {key: np.concatenate([row[key] for row in rows]) for key in rows[0]}


# The first has two losses; heads differ in nothing else that `fit` sees.
MIXED = pytest.param("masked_lm, mask decoder", "mixed_bfloat16", marks=pytest.mark.repeated)


@pytest.mark.parametrize(("name", "dtype"), [("masked_lm", "float32"), MIXED])
def test_fit_learns_and_evaluate_is_exact(name, dtype):
    model, rows = build(name, dtype), batches(name)
    losses = TRAINED[name][1].losses
    # The second batch predicts half as much, so that a mean of means would be another number.
    for key in rows[1]:
        if key.endswith("weights"):
            rows[1][key] = rows[1][key] * (np.arange(rows[1][key].shape[1]) % 2 == 0).astype("float32")
    sums = {key: numpy(value) for key, value in example_sums(model(joined(rows))).items()}
    expected = {key: float(value) for key, value in total_loss(sums, losses).items()}
    expected |= {
        f"{loss}_accuracy": sums[f"{loss}_correct_sum"].sum() / sums[f"{loss}_weight_sum"].sum()
        for loss in losses
    }
    # Step by step, which JAX cannot; in a graph below.
    eagerly = keras.backend.backend() != "jax"
    model.compile(keras.optimizers.Adam(3e-2), jit_compile=False, run_eagerly=eagerly)
    found = model.evaluate(joined(rows), batch_size=BATCH, verbose=0, return_dict=True)
    assert set(found) == {"loss", *(f"{loss}_{what}" for loss in losses for what in ("loss", "accuracy"))}
    for key, value in found.items():
        # A compiled model may round to bfloat16 at other places.
        np.testing.assert_allclose(value, expected[key], rtol=1e-4 if dtype == "float32" else 2e-2)
    assert {keras.backend.standardize_dtype(each.dtype) for each in model.trainable_variables} == {"float32"}
    history = model.fit(joined(rows), batch_size=BATCH, epochs=2, verbose=0).history
    assert set(history) == set(found)
    assert np.isfinite(history["loss"]).all() and history["loss"][-1] < 0.9 * history["loss"][0]


def test_a_model_that_is_not_built_and_batches_from_a_generator():
    """In a graph, which changes every weight."""
    shape, objective = shape_of("causal_lm"), TRAINED["causal_lm"][1]
    made = PretrainingModel(shape.model_dump(), objective.model_dump(), VOCABULARY, seed=1)
    made.compile("sgd", jit_compile=False)
    history = made.fit(((row,) for row in batches("causal_lm")), verbose=0).history
    assert set(history) == {"loss", "lm_loss", "lm_accuracy"}
    assert np.isfinite(history["loss"]).all()
    before = build("causal_lm").get_weights()
    assert all(not np.array_equal(one, two) for one, two in zip(made.get_weights(), before, strict=True))


def test_a_compiled_model_is_loaded_compiled(tmp_path):
    model, rows = build("causal_lm"), batches("causal_lm")
    model.compile(keras.optimizers.Adam(1e-2), run_eagerly=keras.backend.backend() != "jax")
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert float(keras.ops.convert_to_numpy(loaded.optimizer.learning_rate)) == pytest.approx(1e-2)
    found, expected = (
        each.evaluate(joined(rows), batch_size=BATCH, verbose=0, return_dict=True) for each in (loaded, model)
    )
    assert found == pytest.approx(expected, rel=1e-5)
    assert all(type(value) is float for value in found.values())


@pytest.mark.parametrize("name", ["loss", "metrics", "loss_weights", "weighted_metrics"])
def test_the_objective_is_the_loss(name):
    with pytest.raises(ValueError, match=f"`{name}` .*objective"):
        build("causal_lm").compile("adam", **{name: ["mse"]})


def test_targets_beside_the_features_are_refused():
    model, features = build("causal_lm"), training_features("causal_lm")
    model.compile("sgd", run_eagerly=True)
    with pytest.raises(ValueError, match="`y`"):
        model.fit(features, np.zeros((BATCH, 1)), verbose=0)


@pytest.mark.parametrize("name", ["sample_weight", "class_weight"])
def test_weights_that_are_not_features_are_refused(name):
    model, features = build("causal_lm"), training_features("causal_lm")
    model.compile("sgd", run_eagerly=True)
    for call in (model.fit, model.evaluate):
        with pytest.raises(ValueError, match=f"`{name}`"):
            call(features, verbose=0, **{name: np.ones(BATCH)})


@pytest.mark.parametrize("name", ["bert", pytest.param("gpt2", marks=pytest.mark.repeated), "bart"])
def test_positions_beyond_the_table(name):
    backbone = BACKBONES[MODELS[name].kind](VOCABULARY, MODELS[name])
    ones, places = np.ones((1, 15), "int32"), np.arange(15, dtype="int32")[None]
    features = {"token_ids": ones, "segment_ids": ones, "position_ids": places, "document_ids": ones}
    features |= {f"decoder_{key}": value for key, value in features.items()}
    with pytest.raises(ValueError, match=r"14 .*15 .*positions\.length=14"):
        backbone(features)
    # Two documents in one row, whose positions start again.
    packed = {key: places % 8 if "position" in key else value for key, value in features.items()}
    assert np.isfinite(numpy(backbone(packed))).all()


@pytest.mark.parametrize("name", ["masked_lm, mask decoder", "replaced_token_detection, mask decoder"])
def test_positions_beyond_the_mask_decoder(name):
    model, features = build(name), training_features(name)
    features["position_ids"] = features["position_ids"] + 6
    with pytest.raises(ValueError, match=r"12 .*12 .*mask_decoder\.length=12"):
        model(features)
