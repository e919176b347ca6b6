"""Additions of each method are saved alone: they are loaded on their base, and refused on another one, and a
run that is killed resumes to the same weights."""

import os

import numpy as np
import pytest

from firth import features
from firth.models import load_model
from firth.models.additions.addition_kinds import replace_training_additions
from firth.models.bundle import weights_by_path
from firth.recipes.reading.bundles import digest_of_bundle
from firth.tuning import AdapterError, load_adapter, load_merged, merge, save_adapter
from tests.repeating import often
from tests.training.kills import copies_after, steps_made
from tests.tuning.drawn import drawn
from tests.tuning.runs import adapting, by_method, fits, weights_after, write_base
from tests.tuning.table import ADDING, small

# One of each kind of backbone, and of BERT's one whose layers share their weights.
FAMILIES = ("bert", "albert", "gpt", "t5", "xlnet", "elmo")
# One that merges, one of blocks, one of keys, and one that keeps what its network makes.
# `adapters_test` has LoRA.
FEW = ("adalora", "houlsby", "prefix_tuning", "p_tuning")
CASES = [(kind, family) for family in FAMILIES for kind in ADDING if fits(kind, family)]


def states(model) -> np.ndarray:
    ids = np.arange(24, dtype="int32").reshape(1, 24)
    rows = {features.TOKEN_IDS: ids, features.POSITION_IDS: ids % 24, features.DOCUMENT_IDS: 0 * ids + 1}
    of_decoder = dict(zip(features.decoder_specs(1), rows.values()))
    characters = {features.CHARACTERS: (7 * ids[..., None] + np.arange(6, dtype="int32")) % 262}
    return np.array(model.backbone({**rows, **of_decoder, **characters, features.SEGMENT_IDS: 0 * ids}))


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """For each family a recipe whose base is in its place, another base, and the weights of the first."""
    made = {}

    def of_family(family):
        if family not in made:
            folder = tmp_path_factory.mktemp(family)
            recipe = adapting(family, folder, {"kind": "full"})
            weights = weights_by_path(load_model(recipe.base.bundle))
            made[family] = (recipe, write_base(folder / "other", family, seed=8), weights)
        return made[family]

    return of_family


@pytest.mark.parametrize(
    "kind, family",
    often(CASES, [(kind, "bert") for kind in FEW]),
)
def test_it_is_saved_alone_loaded_on_its_base_and_refused_on_another(kind, family, bases, tmp_path):
    recipe, other, of_base = bases(family)
    method = small(kind)
    model = drawn(by_method(recipe, method))
    expected = states(model)
    replace_training_additions(model, method)
    recipe = by_method(recipe, method.kept)
    save_adapter(model, recipe, tmp_path / "adapter")
    loaded, found = load_adapter(tmp_path / "adapter", recipe.base.bundle)
    assert found.method == method.kept
    scale = np.abs(expected).max()
    np.testing.assert_allclose(states(loaded) / scale, expected / scale, atol=1e-5)
    weights = weights_by_path(loaded)
    for path, each in weights_by_path(model).items():
        np.testing.assert_array_equal(weights[path], each, err_msg=path)
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


# All methods are tried on two kinds of backbones, and some on the others.
OF_SOME = {"t5": ("lora", "houlsby", "prefix_tuning"), "xlnet": ("ia3", "pfeiffer"), "elmo": ("lora", "loha")}
KILLED = [(kind, family) for kind in ADDING for family in ("bert", "gpt")]
KILLED += [(kind, family) for family, kinds in OF_SOME.items() for kind in kinds]


@pytest.mark.repeated
@pytest.mark.parametrize("kind, family", KILLED)
def test_a_run_that_is_killed_and_goes_on_equals_uninterrupted(kind, family, tmp_path):
    recipe = adapting(family, tmp_path, small(kind, dropout=0.0 if family == "elmo" else 0.1))
    with copies_after(tmp_path / "c", {3: tmp_path / "killed"}):
        expected = weights_after(recipe, tmp_path, tmp_path / "first", tmp_path / "c")
    with steps_made() as steps:
        resumed = weights_after(recipe, tmp_path, tmp_path / "second", tmp_path / "killed")
    assert steps == [3, 4]
    assert any(path.startswith("added/") for path in resumed) and resumed.keys() == expected.keys()
    for path, each in resumed.items():
        np.testing.assert_array_equal(each, expected[path], err_msg=path)
