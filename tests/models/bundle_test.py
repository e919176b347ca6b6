"""A model on disk is the model that was saved, and what is damaged is refused."""

import functools
import os
import pathlib
import shutil

import keras
import numpy as np
import pytest
import safetensors.numpy

from firth import storage
from firth.models import BundleError, build_pretraining_model, load_model, save_model
from firth.models.bundle import RECIPE_FILE, WEIGHTS_FILE, weights_by_path
from firth.recipes import load_recipe, preset_names
from tests.models.table import make_features, tiny_recipe
from tests.repeating import often

METADATA = {"library": "firth", "format": "1"}
TINY = [name for name in preset_names() if name.endswith("_tiny")]


def small(name, *overrides):
    return load_recipe(name, ["tokenizer.vocabulary_size=600", *overrides])


def saved(model, recipe, root) -> str:
    words = pathlib.Path(root, "words")
    words.mkdir()
    (words / "vocab.txt").write_text("a\n")
    save_model(model, recipe, words, f"{root}/bundle")
    return f"{root}/bundle"


@functools.cache
def bert():
    return build_pretraining_model(tiny_recipe())


@pytest.fixture
def bundle(tmp_path):
    return saved(bert(), tiny_recipe(), tmp_path)


def refused(bundle, match):
    with pytest.raises(BundleError, match=match):
        load_model(bundle)


# The others are of the same layers and heads as these.
KINDS = ["bart", "elmo", "llama", "xlnet"]


@pytest.mark.parametrize("name", often(TINY, [f"{kind}_tiny" for kind in KINDS]))
def test_a_loaded_model_is_the_saved_one(name, tmp_path):
    recipe = small(name)
    model = build_pretraining_model(recipe)
    # Nothing is what a new model would start from.
    for place, weight in enumerate(model.weights):
        weight.assign(np.random.default_rng(place).normal(size=weight.shape))
    loaded = load_model(saved(model, recipe, tmp_path))
    assert len(weights_by_path(loaded)) == len(loaded.weights)
    for path, weight in weights_by_path(loaded).items():
        np.testing.assert_array_equal(weight, weights_by_path(model)[path], err_msg=path)


def test_the_files_of_a_bundle(bundle):
    assert storage.list_folder(bundle) == [storage.MARKER, RECIPE_FILE, "tokenizer", WEIGHTS_FILE]
    assert pathlib.Path(bundle, "tokenizer", "vocab.txt").read_text() == "a\n"
    weights = safetensors.numpy.load_file(f"{bundle}/{WEIGHTS_FILE}")
    kernel = weights["backbone/encoder/block_0/attention/kernel"]
    np.testing.assert_array_equal(kernel, bert().backbone.encoder.blocks[0].attention.kernel)
    assert not any("seed" in path or "pretraining_model" in path for path in weights)
    with pytest.raises(FileExistsError):
        save_model(bert(), tiny_recipe(), f"{bundle}/tokenizer", bundle)


def test_hidden_states_in_another_precision(bundle):
    features = make_features("bert")
    exact = keras.ops.convert_to_numpy(load_model(bundle).backbone(features))
    half = load_model(bundle, dtype="bfloat16").backbone(features)
    assert keras.backend.standardize_dtype(half.dtype) == "bfloat16"
    np.testing.assert_allclose(keras.ops.convert_to_numpy(keras.ops.cast(half, "float32")), exact, atol=0.1)
    np.testing.assert_array_equal(exact, bert().backbone(features))


def test_carried_states_stay_behind(tmp_path):
    recipe = small(
        "elmo_tiny", "model.carry_state=true", "sequences.max_documents=1", "training.batch_size=2"
    )
    model = build_pretraining_model(recipe)
    assert len(weights_by_path(model)) < len(model.weights)
    assert not any("carried" in path for path in weights_by_path(model))
    load_model(saved(model, recipe, tmp_path))


def test_a_bundle_that_was_cut_short_is_refused(bundle):
    os.remove(f"{bundle}/{storage.MARKER}")
    with pytest.raises(storage.NotWholeError, match="cut short"):
        load_model(bundle)


@pytest.mark.parametrize("size", [0, pytest.param(5, marks=pytest.mark.repeated), 4000])
def test_truncated_weights_are_refused(bundle, size):
    os.truncate(f"{bundle}/{WEIGHTS_FILE}", size)
    refused(bundle, rf"{WEIGHTS_FILE} cannot be read")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda w: w.pop("heads/pooler/dense/bias"), r"no heads/pooler/dense/bias$"),
        (
            lambda w: w.update({"heads/pooler/dense/bais": w.pop("heads/pooler/dense/bias")}),
            r"no heads/pooler/dense/bias \(there is heads/pooler/dense/bais\); .*/bais is not in the model",
        ),
        (
            lambda w: w.update({"heads/pooler/dense/bias": np.zeros(3, "float32")}),
            r"heads/pooler/dense/bias is \[3\], the model's is \[16\]",
        ),
        (lambda w: w.clear(), r"no backbone/.* and \d+ more"),
    ],
)
def test_weights_of_another_model_are_refused(bundle, change, said):
    weights = safetensors.numpy.load_file(f"{bundle}/{WEIGHTS_FILE}")
    change(weights)
    safetensors.numpy.save_file(weights, f"{bundle}/{WEIGHTS_FILE}", METADATA)
    refused(bundle, f"does not fit its recipe: .*{said}")


def test_a_missing_or_foreign_recipe_is_refused(bundle, tmp_path):
    shutil.move(f"{bundle}/{RECIPE_FILE}", tmp_path / "recipe")
    refused(bundle, f"{RECIPE_FILE} holds no recipe")
    pathlib.Path(bundle, RECIPE_FILE).write_text("widht: 8\n")
    refused(bundle, "widht")


@pytest.mark.parametrize("metadata", [None, {**METADATA, "format": "2"}, {"format": "pt"}])
def test_another_format_is_refused(bundle, metadata):
    weights = safetensors.numpy.load_file(f"{bundle}/{WEIGHTS_FILE}")
    safetensors.numpy.save_file(weights, f"{bundle}/{WEIGHTS_FILE}", metadata)
    refused(bundle, "is not of format 1")


def test_two_weights_of_one_path_are_refused(monkeypatch):
    model = build_pretraining_model(tiny_recipe())
    monkeypatch.setattr(
        type(model), "weights", property(lambda self: [*self.variables[:2], self.variables[0]])
    )
    with pytest.raises(ValueError, match=r"two weights .*token_embedding/table"):
        weights_by_path(model)


@pytest.mark.parametrize("name", often(["bert_tiny", "t5_1_1_tiny", "elmo_tiny"], ["bert_tiny", "elmo_tiny"]))
def test_nothing_is_drawn_in_the_place_of_stored_weights(name, tmp_path):
    recipe = small(name, "model.layers=1")
    model = build_pretraining_model(recipe)
    loaded = load_model(saved(model, recipe, tmp_path))
    draws = [np.asarray(each.seed_generator.state.value)[1] for each in (model, loaded)]
    assert draws[0] > 0 and draws[1] == 0
    found = weights_by_path(loaded)
    for path, weight in weights_by_path(model).items():
        np.testing.assert_array_equal(found[path].value, weight.value, path)
