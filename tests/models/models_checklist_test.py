"""Properties of the model that pre-trains, for every objective."""

import functools
import inspect
import json
import pathlib
import typing

import keras
import numpy as np
import pytest

import firth.recipes
from firth import features as names
from firth.models import (
    BACKBONES,
    HEADS,
    PretrainingModel,
    build_pretraining_model,
    example_sums,
    total_loss,
)
from firth.recipes.base.types import configs_in
from firth.recipes.run.recipe import Recipe
from firth.recipes.tasks.classification import Classification
from firth.recipes.tasks.forms import AnyForm, GPTForm
from firth.recipes.tasks.tasks import AnyTask
from tests.backends.gradients import compiled, gradients
from tests.models.table import (
    BATCH,
    MODELS,
    OTHERS,
    TRAINED,
    VOCABULARY,
    make_features,
    shape_of,
    tiny_recipe,
    training_features,
)
from tests.repeating import often

# Two objectives differ from span corruption in their data alone, and JAX takes its time to compile.
LEFT_OUT = {"iid_denoising", "salient_spans"}
if keras.backend.backend() == "jax":
    LEFT_OUT |= {name for name in TRAINED if "," in name} | {"unilm", "prefix_lm", "span_corruption"}
CASES = [name for name in TRAINED if name not in LEFT_OUT]
# Heads and backbones that differ in kind.
FEW = {"replaced_token_detection", "permutation_lm", "causal_lm", "denoising", "bidirectional_lm"}
cases = pytest.mark.parametrize("name", often(CASES, FEW))
# What holds for an objective's model, whatever is special.
kinds = pytest.mark.parametrize("name", often([name for name in CASES if "," not in name], FEW))
# One objective for each backbone, and one whose heads hold a model: what is special to others is in heads.
ONE_EACH = {
    "masked_lm",
    "replaced_token_detection",
    "permutation_lm",
    "causal_lm",
    "denoising",
    "bidirectional_lm",
}
backbones = pytest.mark.parametrize(
    "name",
    often(
        [name for name in CASES if name in ONE_EACH],
        ["replaced_token_detection", "permutation_lm", "bidirectional_lm"],
    ),
)


def build(name, dtype=None, seed=1) -> PretrainingModel:
    made = PretrainingModel(
        model=shape_of(name).model_dump(),
        objective=TRAINED[name][1].model_dump(),
        vocabulary_size=VOCABULARY,
        seed=seed,
        dtype=dtype,
    )
    made.build()
    return made


@functools.cache
def built(name, dtype=None) -> PretrainingModel:
    """A model for tests that leave its weights as they are."""
    return build(name, dtype)


def numpy(tensor) -> np.ndarray:
    return keras.ops.convert_to_numpy(keras.ops.cast(tensor, "float32"))


def sums_of(predictions) -> dict[str, np.ndarray]:
    return {name: numpy(value) for name, value in example_sums(predictions).items()}


@functools.cache
def predictions_of(name):
    """The model's predictions, computed in float32."""
    return built(name)(training_features(name))


@functools.cache
def exact_sums(name) -> dict[str, np.ndarray]:
    """The sums of each example, computed in float32."""
    return sums_of(predictions_of(name))


def kinds_of(field: str) -> set[str]:
    """The `kind`s that a recipe's field may have."""
    types = typing.get_args(Recipe.model_fields[field].annotation)
    return {kind for each in types for kind in typing.get_args(each.model_fields["kind"].annotation)}


def test_tables_and_recipe_types_agree():
    trained = {objective.kind for _, objective in TRAINED.values()}
    assert set(BACKBONES) == kinds_of("model") == {model.kind for model in {**MODELS, **OTHERS}.values()}
    assert kinds_of("objective") == trained
    # Without what a task has no default of.
    of_tasks = {task.model_construct().heads for task in configs_in(AnyTask)}
    of_tasks.add(Classification(form=GPTForm(), lm_weight=0.5).heads)
    of_tasks |= {heads for form in configs_in(AnyForm) for heads in form.heads.values()}
    assert set(HEADS) == {objective.heads for _, objective in TRAINED.values()} | of_tasks


@pytest.mark.parametrize("kind", BACKBONES)
def test_backbone_has_a_file_of_its_own(kind):
    assert pathlib.Path(inspect.getfile(BACKBONES[kind])).stem == kind


@cases
def test_predictions(name):
    predictions = predictions_of(name)
    assert set(predictions) == set(TRAINED[name][1].losses)
    for made in predictions.values():
        assert len({tuple(part.shape) for part in made}) == 1
        assert made.losses.shape[0] == BATCH
        for part in made:
            assert keras.backend.standardize_dtype(part.dtype) == "float32"
            assert np.isfinite(numpy(part)).all()
        assert (numpy(made.losses) >= 0).all() and set(numpy(made.correct).flatten()) <= {0.0, 1.0}


@backbones
def test_save_and_load(name, tmp_path):
    model, features = built(name), training_features(name)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert json.dumps(loaded.get_config()) == json.dumps(model.get_config())
    for key, value in sums_of(loaded(features)).items():
        np.testing.assert_array_equal(value, exact_sums(name)[key])


@cases
def test_every_weight_gets_a_gradient_in_mixed_precision(name):
    model, features = built(name, "mixed_bfloat16"), training_features(name)
    losses = TRAINED[name][1].losses
    found = gradients(model, lambda: total_loss(example_sums(model(features)), losses)["loss"])
    assert len(found) == len(model.trainable_variables)
    for path, value in found.items():
        assert value is not None and np.isfinite(value).all() and np.abs(value).max() > 0, path


@kinds
def test_mixed_precision_is_close_to_float32(name):
    mixed = sums_of(built(name, "mixed_bfloat16")(training_features(name)))
    for loss in TRAINED[name][1].losses:
        # ELECTRA's samples may differ, and with them what its discriminator reads.
        if loss != "rtd":
            key = f"{loss}_loss_sum"
            np.testing.assert_allclose(mixed[key], exact_sums(name)[key], rtol=0.1, atol=0.3)


@kinds
def test_an_example_alone_equals_the_same_in_a_batch(name):
    features = {key: value[1:2] for key, value in training_features(name).items()}
    for key, value in sums_of(built(name)(features)).items():
        np.testing.assert_allclose(value[0], exact_sums(name)[key][1], rtol=1e-5, atol=1e-4)


# In `backbones`, every kind of transformer is compiled.
@pytest.mark.parametrize("name", often([name for name in CASES if name in ONE_EACH], ["masked_lm"]))
def test_compiled_equals_eager(name):
    model = built(name)
    for key, value in compiled(lambda batch: example_sums(model(batch)))(training_features(name)).items():
        np.testing.assert_allclose(numpy(value), exact_sums(name)[key], rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "name",
    often(
        [name for name in CASES if "," not in name], ["span_masking", "permutation_lm", "bidirectional_lm"]
    ),
)
def test_weights_follow_from_the_seed(name):
    first, other = build(name, seed=1), build(name, seed=2)
    # All state, that of generators too.
    for one, two in zip(first.variables, build(name, seed=1).variables, strict=True):
        np.testing.assert_array_equal(numpy(one), numpy(two), err_msg=one.path)
    pairs = zip(first.get_weights(), other.get_weights(), strict=True)
    assert any(not np.array_equal(one, two) for one, two in pairs)


@backbones
def test_dropout_follows_from_the_seed_state(name):
    model, features = built(name), training_features(name)
    state = model.seed_generator.state
    assert [id(variable) for variable in model.variables if not variable.trainable] == [id(state)]
    start = keras.ops.convert_to_numpy(state.value)
    first, second = (sums_of(model(features, training=True)) for _ in range(2))
    state.assign(start)
    again = sums_of(model(features, training=True))
    for loss in TRAINED[name][1].losses:
        key = f"{loss}_loss_sum"
        np.testing.assert_array_equal(first[key], again[key])
        assert not np.array_equal(first[key], second[key])


@backbones
def test_dropout_of_an_example_follows_from_its_key(name):
    """Whichever examples share its batch, and in whichever place: so it does on any number of devices."""
    model, keys = built(name), np.random.default_rng(1).integers(-(2**31), 2**31, (BATCH, 2))
    features = {**training_features(name), names.NOISE_KEYS: keys.astype("int32")}
    start = keras.ops.convert_to_numpy(model.seed_generator.state.value)

    def trained(places):
        model.seed_generator.state.assign(start)
        return sums_of(model({key: value[places] for key, value in features.items()}, training=True))

    # Batches of one size, for which JAX compiles once.
    whole, mixed = trained([0, 1, 2]), trained([2, 0, 0])
    features[names.NOISE_KEYS] = keys[[1, 2, 0]].astype("int32")
    other = trained([0, 1, 2])
    for loss in TRAINED[name][1].losses:
        key = f"{loss}_loss_sum"
        np.testing.assert_allclose(mixed[key], whole[key][[2, 0, 0]], rtol=1e-5, atol=1e-5)
        # What counts as the same above: most of an untrained ELMo's loss is its bias, which drops nothing.
        assert not np.isclose(other[key], whole[key], rtol=1e-5, atol=1e-5).any()


def test_all_comes_from_the_recipe():
    training = firth.recipes.Training(steps=20_000, precision="mixed_bfloat16")
    shape = shape_of("masked_lm")
    one, two, other = (
        build_pretraining_model(tiny_recipe(shape, training=training, seed=seed)) for seed in (1, 1, 2)
    )
    assert one.compute_dtype == "bfloat16"
    assert (
        build_pretraining_model(tiny_recipe(shape, training=training), dtype="float32").compute_dtype
        == "float32"
    )
    hidden = [numpy(model.backbone(make_features("bert"))) for model in (one, two, other)]
    np.testing.assert_array_equal(hidden[0], hidden[1])
    assert not np.array_equal(hidden[0], hidden[2])
