"""A run that adapts by an addition: saved alone, merged, served, resumed, and refused on another base."""

import numpy as np
import pytest
import tensorflow as tf

from firth import features, storage
from firth.interop import peft
from firth.interop.errors import InteropError
from firth.models import load_model
from firth.models.bundle import weights_by_path
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.run.adapting import AdaptingRecipe
from firth.serving import load_served
from firth.serving.task_signatures.classify import classify
from firth.tuning import AdapterError, load_adapter
from tests.training.artifacts import VOCABULARY, tiny_recipe, write_bundle
from tests.tuning.runs import adapting, run


@pytest.fixture(scope="module", params=["bert", pytest.param("gpt", marks=pytest.mark.repeated)])
def adapted(request, tmp_path_factory):
    """A folder with a run of the Trainer's own function, and the recipe of the run."""
    folder = tmp_path_factory.mktemp(request.param)
    recipe = adapting(request.param, folder)
    run(folder, recipe, served=False)
    return folder, recipe


def test_the_adapter_alone_with_its_base_gives_what_the_merged_bundle_gives(adapted):
    folder, recipe = adapted
    merged = load_model(folder / "model" / "bundle")
    model, loaded = load_adapter(folder / "model" / "adapter", recipe.base.bundle)
    assert loaded.method == recipe.method and model.added.held and not merged.added.held
    ids = np.arange(24).reshape(1, 24) % len(VOCABULARY)
    texts = {features.TOKEN_IDS: ids, features.POSITION_IDS: ids % 24, features.DOCUMENT_IDS: 0 * ids + 1}
    texts[features.SEGMENT_IDS] = 0 * ids
    np.testing.assert_allclose(model.backbone(texts), merged.backbone(texts), atol=1e-5)
    base = weights_by_path(load_model(recipe.base.bundle))
    frozen = {path: each for path, each in weights_by_path(model).items() if path.startswith("backbone/")}
    for path, each in frozen.items():
        np.testing.assert_array_equal(each, base[path], err_msg=path)
    moved = {path for path in frozen if (weights_by_path(merged)[path].numpy() != base[path].numpy()).any()}
    assert {path.split("/", 3)[3] for path in moved} == {"attention/kernel"}


def test_it_is_smaller_than_its_bundle_and_says_its_base(adapted):
    folder, recipe = adapted
    said = storage.read_json(folder / "model" / "adapter" / "adapter.json")
    assert (said["base"], said["method"]) == (recipe.base.digest, "lora")
    model, _ = load_adapter(folder / "model" / "adapter", recipe.base.bundle)
    assert said["parameters"] == sum(int(np.prod(each.shape)) for each in model.trainable_weights)
    sizes = [
        (folder / "model" / place).stat().st_size
        for place in ("adapter/adapter.safetensors", "bundle/weights.safetensors")
    ]
    assert sizes[0] < 0.5 * sizes[1]


def test_the_merged_model_answers_texts(adapted):
    """Op by op; `tests/cli/import_weights_merge_test.py` exports it."""
    folder, _ = adapted
    answer = classify(load_served(folder / "model" / "bundle"), tf.constant(["w1 w2 w3"]))
    assert answer["label"].numpy()[0] in (b"no", b"yes")


def test_it_goes_out_to_peft_and_comes_in_again(adapted, tmp_path):
    folder, recipe = adapted
    if not recipe.model.has_encoder:  # None of transformers' decoders has this one's norms.
        with pytest.raises(InteropError, match="no family of Hugging Face's format"):
            peft.export_model(folder / "model" / "bundle", tmp_path / "out")
        return
    peft.export_model(folder / "model" / "bundle", tmp_path / "out")
    model, _ = load_adapter(folder / "model" / "adapter", recipe.base.bundle)
    again = peft.load_adapter(tmp_path / "out", recipe.base.bundle)
    assert again.method == recipe.method.model_copy(update={"targets": again.method.targets})
    ours = {path: each for path, each in weights_by_path(again.model).items() if path.startswith("added/")}
    assert len(ours) == len(model.added.weights)
    for path, each in ours.items():
        np.testing.assert_allclose(each, weights_by_path(model)[path], rtol=1e-6, err_msg=path)


def test_another_base_is_refused_with_both_digests(adapted, tmp_path):
    folder, recipe = adapted
    other = write_bundle(tmp_path / "other", tiny_recipe(), seed=8)
    with pytest.raises(AdapterError, match=f"base {recipe.base.digest}, but .* is {digest_of_bundle(other)}"):
        load_adapter(folder / "model" / "adapter", other)


@pytest.mark.parametrize("said", [{"library": "firth", "format": 0}, [], None])
def test_a_damaged_adapter_is_refused(adapted, tmp_path, said):
    folder, recipe = adapted
    storage.copy_folder(folder / "model" / "adapter", tmp_path / "copy")
    storage.write_json(tmp_path / "copy" / "adapter.json", said)
    with pytest.raises(AdapterError, match=r"adapter\.json is not of format 1"):
        load_adapter(tmp_path / "copy", recipe.base.bundle)


def test_a_vocabulary_that_grows_is_refused(adapted):
    said = adapted[1].model_dump()
    with pytest.raises(ValueError, match=r"added_words.* method\.kind: lora "):
        AdaptingRecipe.of({**said, "base": {**said["base"], "added_words": ("zebra",)}})
