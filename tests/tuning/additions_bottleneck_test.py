"""A run that adapts by what does not merge: it stays a part of the bundle and of what is served."""

import numpy as np
import pytest
import tensorflow as tf

from firth import features
from firth.interop.bundles import recipe_of
from firth.interop.errors import InteropError
from firth.models import ADDITIONS, BundleError, build_model, load_model
from firth.models.bundle import weights_by_path
from firth.models.bundle_weights import start_from
from firth.recipes.base.errors import RecipeError
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.reading.adapting import load_adapting_recipe
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tuning.methods import AnyMethod, Full, method_types
from firth.serving.bundle import export_bundle
from firth.tuning import METHODS, load_adapter
from tests.training.artifacts import VOCABULARY
from tests.tuning.runs import adapting, run

HOULSBY = {"kind": "houlsby", "bottleneck": 4}


@pytest.fixture(scope="module")
def adapted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("houlsby")
    recipe = adapting("bert", folder, HOULSBY)
    run(folder, recipe, served=False)
    return folder, recipe


def texts():
    ids = np.arange(24).reshape(1, 24) % len(VOCABULARY)
    found = {features.TOKEN_IDS: ids, features.POSITION_IDS: ids % 24, features.DOCUMENT_IDS: 0 * ids + 1}
    return {**found, features.SEGMENT_IDS: 0 * ids}


def test_the_methods_that_do_not_merge_are_in_the_table():
    kinds = [
        kind for each in configs_in(AnyMethod) if each.adds and not each.merges for kind in kinds_of(each)
    ]
    assert list(ADDITIONS) == kinds
    assert [kind for kind in METHODS if method_types()[kind].model_construct().extends_model] == kinds
    assert list(METHODS) == list(method_types())


@pytest.mark.repeated
def test_the_bundle_has_what_the_adapter_has_next_to_its_base(adapted):
    folder, recipe = adapted
    whole = load_model(folder / "model" / "bundle")
    model, _ = load_adapter(folder / "model" / "adapter", recipe.base.bundle)
    assert len(whole.added.held) == len(model.added.held) == 2
    for path, each in weights_by_path(whole).items():
        np.testing.assert_array_equal(each, weights_by_path(model)[path], err_msg=path)
    base = build_model(recipe)
    start_from(base, recipe.base.bundle)
    assert np.abs(np.array(whole.backbone(texts())) - base.backbone(texts())).max() > 1e-3


@pytest.mark.repeated
def test_what_is_served_is_what_the_bundle_gives(tmp_path):
    folder = tmp_path / "run"
    run(folder, adapting("bert", folder, HOULSBY))
    export_bundle(folder / "model" / "bundle", tmp_path / "served")
    given = tf.constant([b"w1 w2 w3", b"w7"])
    answers = [
        tf.saved_model.load(str(place)).signatures["classify"](text=given)
        for place in (folder / "model" / "Format-Serving", tmp_path / "served")
    ]
    assert answers[0]["label"].numpy().tolist() == answers[1]["label"].numpy().tolist()
    np.testing.assert_allclose(answers[0]["probabilities"], answers[1]["probabilities"], atol=1e-5)


def test_nothing_starts_from_it_or_takes_it_out(adapted):
    folder, recipe = adapted
    bundle = folder / "model" / "bundle"
    with pytest.raises(InteropError, match=r"method\.kind: houlsby"):
        recipe_of(bundle)
    with pytest.raises(BundleError, match=r"added/encoder/block_0/attention/houlsby/down"):
        start_from(build_model(recipe.model_copy(update={"method": Full()})), bundle)
    with pytest.raises(RecipeError, match=rf"houlsby.* {recipe.base.bundle}"):
        load_adapting_recipe(None, [f"base={bundle}", "data.kind=columns", "data.train=x.csv"])


def test_a_layer_between_that_is_wider_than_the_states_is_refused_with_the_widest(adapted):
    said = adapted[1].model_dump()
    most = said["model"]["width"]
    message = rf"method\.bottleneck: {most + 1}, but .* width, {most}; {most} is the greatest that works"
    with pytest.raises(ValueError, match=message):
        AdaptingRecipe.of({**said, "method": {"kind": "houlsby", "bottleneck": most + 1}})
    AdaptingRecipe.of({**said, "method": {"kind": "houlsby", "bottleneck": most}})
    with pytest.raises(ValueError, match="reduction_factor"):
        AdaptingRecipe.of({**said, "method": {"kind": "pfeiffer", "reduction_factor": 0.5}})
