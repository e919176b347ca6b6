"""What each method that adds something saves alone, as the library's table has them: it is loaded on its
base, refused on another one, and a run that is killed goes on."""

import os

import numpy as np
import pytest

from firth import features
from firth.models import load_model
from firth.models.additions.keeping import keep
from firth.models.bundle import weights_by_path
from firth.recipes.reading.bundles import digest_of_bundle
from firth.training import train
from firth.tuning import AdapterError, load_adapter, load_merged, merge, save_adapter
from tests.training.artifacts import VOCABULARY, tiny_recipe, write_bundle
from tests.training.kills import copies_after, steps_made
from tests.tuning.drawn import drawn
from tests.tuning.runs import adapting, by_method
from tests.tuning.table import ADDING, small


def states(model) -> np.ndarray:
    ids = np.arange(24).reshape(1, 24) % len(VOCABULARY)
    texts = {features.TOKEN_IDS: ids, features.POSITION_IDS: ids % 24, features.DOCUMENT_IDS: 0 * ids + 1}
    return np.array(model.backbone({**texts, features.SEGMENT_IDS: 0 * ids}))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A recipe whose base is in its place, and another base."""
    folder = tmp_path_factory.mktemp("saving")
    return adapting("bert", folder), write_bundle(folder / "other", tiny_recipe(), seed=8)


@pytest.mark.parametrize("kind", ADDING)
def test_it_is_saved_alone_loaded_on_its_base_and_refused_on_another(kind, base, tmp_path):
    recipe, other = base
    method = small(kind)
    model = drawn(by_method(recipe, method))
    expected = states(model)
    keep(model, method)
    recipe = by_method(recipe, method.kept)
    save_adapter(model, recipe, tmp_path / "adapter")
    loaded, found = load_adapter(tmp_path / "adapter", recipe.base.bundle)
    assert found.method == method.kept
    scale = np.abs(expected).max()
    np.testing.assert_allclose(states(loaded) / scale, expected / scale, atol=1e-5)
    of_base = weights_by_path(load_model(recipe.base.bundle))
    for path, each in weights_by_path(model).items():
        np.testing.assert_array_equal(weights_by_path(loaded)[path], each, err_msg=path)
        if not each.trainable and path in of_base:
            np.testing.assert_array_equal(of_base[path], each, err_msg=path)
    alone, whole = tmp_path / "adapter" / "adapter.safetensors", f"{recipe.base.bundle}/weights.safetensors"
    assert os.path.getsize(alone) < os.path.getsize(whole)
    for load in (load_adapter, load_merged) if method.merges else (load_adapter,):
        digests = f"base {recipe.base.digest}, but .* is {digest_of_bundle(other)}"
        with pytest.raises(AdapterError, match=digests):
            load(tmp_path / "adapter", other)
    if method.merges:
        merge(loaded)
        merged, _ = load_merged(tmp_path / "adapter", recipe.base.bundle)
        np.testing.assert_array_equal(states(merged), states(loaded))
        np.testing.assert_allclose(states(merged) / scale, expected / scale, atol=1e-5)
    else:
        with pytest.raises(AdapterError, match=f"method.kind: {kind} does not merge"):
            load_merged(tmp_path / "adapter", recipe.base.bundle)


@pytest.mark.repeated
@pytest.mark.parametrize("family", ["bert", "gpt"])
@pytest.mark.parametrize("kind", ADDING)
def test_a_run_that_is_killed_and_goes_on_equals_uninterrupted(kind, family, tmp_path):
    recipe = adapting(family, tmp_path, small(kind, dropout=0.1))

    def trained(place, checkpoints):
        files, tokenizer = [f"{tmp_path}/Split-train/*"], f"{tmp_path}/tokenizer"
        model = train(recipe, files, tokenizer, str(tmp_path / place), str(checkpoints))
        return {path: np.array(each) for path, each in weights_by_path(model).items()}

    with copies_after(tmp_path / "c", {3: tmp_path / "killed"}):
        expected = trained("first", tmp_path / "c")
    with steps_made() as steps:
        resumed = trained("second", tmp_path / "killed")
    assert steps == [3, 4]
    assert any(path.startswith("added/") for path in resumed) and resumed.keys() == expected.keys()
    for path, each in resumed.items():
        np.testing.assert_array_equal(each, expected[path], err_msg=path)
