"""What holds for every backbone, and for the model that pre-trains it."""

import inspect
import pathlib
import typing

import keras
import numpy as np
import pytest

import firth.models
import firth.recipes
from firth import features as names
from firth.models import BACKBONES, HEADS, build_backbone, build_pretraining_model, example_sums, total_loss
from firth.recipes.counting import parameter_counts
from firth.recipes.recipe import Recipe
from tests.backends.gradients import compiled, gradients
from tests.models.table import BATCH, LENGTH, MODELS, VOCABULARY, make_features, tiny_recipe

backbones = pytest.mark.parametrize("kind", BACKBONES)
policies = pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])


def numpy(tensor) -> np.ndarray:
    return keras.ops.convert_to_numpy(keras.ops.cast(tensor, "float32"))


def kinds_of(field: str) -> set[str]:
    """The `kind`s that a recipe's field may have, whether it is one type or a union of several."""
    annotation = Recipe.model_fields[field].annotation
    types = typing.get_args(annotation) or (annotation,)
    return {kind for each in types for kind in typing.get_args(each.model_fields["kind"].annotation)}


def test_tables_and_recipe_types_agree():
    assert set(BACKBONES) == kinds_of("model") == set(MODELS)
    assert set(HEADS) == kinds_of("objective")


@backbones
def test_backbone_has_a_file_of_its_own(kind):
    assert pathlib.Path(inspect.getfile(BACKBONES[kind])).stem == kind


@backbones
def test_config_round_trip(kind):
    first = build_backbone(MODELS[kind], VOCABULARY, dtype="mixed_bfloat16", seed=4)
    second = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(first))
    assert second.get_config() == first.get_config()
    for one, two in zip(first.get_weights(), second.get_weights()):
        np.testing.assert_array_equal(one, two)


@backbones
def test_save_and_load(kind, tmp_path):
    model = build_pretraining_model(tiny_recipe(MODELS[kind]))
    features = make_features()
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(
        numpy(model(features)["masked_logits"]), numpy(loaded(features)["masked_logits"])
    )


@backbones
def test_counts_equal_those_from_the_types(kind):
    model, counts = (
        build_pretraining_model(tiny_recipe(MODELS[kind])),
        parameter_counts(tiny_recipe(MODELS[kind])),
    )
    assert model.backbone.embeddings.count_params() == counts["embeddings"]
    assert model.backbone.encoder.count_params() == counts["encoder"]
    assert model.pooler.count_params() == counts["pooler"]
    assert model.masked_lm_head.count_params() == counts["masked_lm_head"]
    assert model.next_sentence_head.count_params() == counts["next_sentence_head"]
    assert model.backbone.count_params() + model.pooler.count_params() == counts["total"]
    assert model.count_params() == counts["total_with_heads"]


@backbones
@policies
def test_shapes_and_dtypes(kind, policy):
    model = build_pretraining_model(tiny_recipe(MODELS[kind]), dtype=policy)
    features = make_features()
    hidden, outputs = model.backbone(features), model(features)
    assert tuple(hidden.shape) == (BATCH, LENGTH, MODELS[kind].width)
    compute_dtype = policy.removeprefix("mixed_")
    assert keras.backend.standardize_dtype(hidden.dtype) == compute_dtype
    shapes = {name: tuple(value.shape) for name, value in outputs.items()}
    assert shapes == {"masked_logits": (BATCH, 3, VOCABULARY), "next_sentence_logits": (BATCH, 2, 2)}
    for value in [*outputs.values(), *example_sums(features, outputs).values()]:
        assert keras.backend.standardize_dtype(value.dtype) == "float32"
        assert np.isfinite(numpy(value)).all()


@backbones
@policies
def test_every_weight_gets_a_gradient(kind, policy):
    model = build_pretraining_model(tiny_recipe(MODELS[kind]), dtype=policy)
    features = make_features()
    found = gradients(model, lambda: total_loss(example_sums(features, model(features)))["loss"])
    assert len(found) == len(model.trainable_variables)
    for path, value in found.items():
        assert value is not None and np.isfinite(value).all() and np.abs(value).max() > 0, path


@backbones
def test_mixed_precision_is_close_to_float32(kind):
    exact, mixed = (
        build_pretraining_model(tiny_recipe(MODELS[kind]), dtype=p) for p in (None, "mixed_bfloat16")
    )
    features = make_features()
    for one, two in zip(exact(features).values(), mixed(features).values()):
        np.testing.assert_allclose(numpy(one), numpy(two), atol=0.05)


@backbones
def test_a_batch_of_one_equals_a_batch_of_many(kind):
    backbone = build_backbone(MODELS[kind], VOCABULARY, seed=1)
    features = make_features()
    together = numpy(backbone(features))
    for row in range(BATCH):
        alone = numpy(backbone({name: value[row : row + 1] for name, value in features.items()}))
        np.testing.assert_allclose(alone[0], together[row], atol=1e-5)


@backbones
def test_a_document_alone_equals_the_same_packed(kind):
    backbone = build_backbone(MODELS[kind], VOCABULARY, seed=1)
    features = make_features()
    together = numpy(backbone(features))
    for place in (slice(0, 7), slice(7, 11)):
        alone = {name: features[name][:, place] for name in names.encoder_specs(LENGTH)}
        np.testing.assert_array_equal(alone["position_ids"][:, 0], 0)
        np.testing.assert_allclose(numpy(backbone(alone)), together[:, place], atol=1e-6)


@backbones
def test_padding_changes_nothing(kind):
    backbone = build_backbone(MODELS[kind], VOCABULARY, seed=1)
    features = make_features()
    shorter = numpy(backbone({name: features[name][:, :11] for name in names.encoder_specs(LENGTH)}))
    np.testing.assert_allclose(numpy(backbone(features))[:, :11], shorter, atol=1e-6)
    features["token_ids"][:, 11] = 5
    np.testing.assert_allclose(numpy(backbone(features))[:, :11], shorter, atol=1e-6)


@backbones
def test_compiled_equals_eager(kind):
    model, features = build_pretraining_model(tiny_recipe(MODELS[kind])), make_features()
    for name, value in compiled(lambda batch: model(batch))(features).items():
        np.testing.assert_allclose(numpy(value), numpy(model(features)[name]), atol=1e-5)


@backbones
def test_weights_follow_from_the_recipe_seed(kind):
    one, two, other = (build_pretraining_model(tiny_recipe(MODELS[kind], seed=s)) for s in (1, 1, 2))
    table = "backbone/embeddings/token/table"
    values = [
        {v.path.split("/", 1)[1]: v.numpy() for v in model.variables if "table" in v.path}
        for model in (one, two, other)
    ]
    np.testing.assert_array_equal(values[0][table], values[1][table])
    assert not np.array_equal(values[0][table], values[2][table])


@backbones
def test_dropout_follows_from_the_seed_state(kind):
    model, features = build_pretraining_model(tiny_recipe(MODELS[kind])), make_features()
    state = model.seed_generator.state
    assert sum(not variable.trainable for variable in model.variables) == 1
    start = state.numpy() if hasattr(state, "numpy") else np.array(state.value)
    outputs = []
    for _ in range(2):
        state.assign(start)
        outputs.append([numpy(model(features, training=True)["masked_logits"]) for _ in range(2)])
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert not np.array_equal(outputs[0][0], outputs[0][1])


def test_without_next_sentences_there_is_one_output():
    objective = firth.recipes.MaskedLM(max_predictions=3, next_sentence=False)
    model = build_pretraining_model(tiny_recipe(objective=objective))
    assert model.pooler is None and model.next_sentence_head is None
    assert set(model(make_features())) == {"masked_logits"}


def test_precision_comes_from_the_recipe():
    training = firth.recipes.Training(steps=20_000, precision="mixed_bfloat16")
    assert build_pretraining_model(tiny_recipe(training=training)).compute_dtype == "bfloat16"
