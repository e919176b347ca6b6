"""A run that starts from a bundle: its first weights, and a kill on the way."""

import contextlib
import json
import pathlib
import shutil
from typing import NamedTuple

import numpy as np
import pytest

from firth.models import BundleError, load_model, save_model
from firth.models.bundle import weights_by_path
from firth.recipes.models.blocks import AttentionConfig
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.run.base import Base
from firth.recipes.tuning.adding import IA3
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from firth.training import read_history, train
from firth.training.checkpoints import SavedState, newest_state
from firth.training.run_start import START_FILE, check_frozen
from firth.tuning import METHODS
from tests.training.artifacts import VOCABULARY, tiny_recipe, write_bundle
from tests.training.kills import copies_after, steps_made
from tests.tuning.additions_test import model_of

STEPS = 4
pytestmark = pytest.mark.usefixtures("eager_steps")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("bundle") / "bundle", tiny_recipe(next_sentence=True))


@contextlib.contextmanager
def taken_away(bundle):
    """A block in which the bundle is not in its folder."""
    shutil.move(bundle, f"{bundle}-away")
    yield
    shutil.rmtree(bundle, ignore_errors=True)
    shutil.move(f"{bundle}-away", bundle)


class Whole(NamedTuple):
    """A run that starts from the bundle: weights, folders, and checkpoints as a kill leaves them."""

    weights: dict[str, np.ndarray]
    place: pathlib.Path
    checkpoints: pathlib.Path
    killed: pathlib.Path


@pytest.fixture(scope="module")
def whole(eager_steps, artifact, bundle, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    place, checkpoints, killed = (folder / name for name in ("run", "c", "killed"))
    with copies_after(checkpoints, {3: killed}):
        weights = arrays(run(recipe_on(bundle), artifact, place, checkpoints))
    return Whole(weights, place, checkpoints, killed)


def recipe_on(bundle, **training):
    base = Base(bundle=bundle, digest=digest_of_bundle(bundle))
    recipe = tiny_recipe(**{"steps": STEPS, "checkpoint_every_steps": 2, **training})
    return recipe.model_copy(update={"base": base})


def run(recipe, artifact, place, checkpoints):
    patterns = [str(artifact / "Split-train" / "*")]
    return train(recipe, patterns, str(artifact / "tokenizer"), str(place), str(checkpoints))


def arrays(model):
    return {name: np.array(each) for name, each in weights_by_path(model).items()}


def assert_equal(found, expected):
    for name, each in found.items():
        np.testing.assert_array_equal(each, expected[name], err_msg=name)


def test_step_0_is_the_base_and_training_moves_all_weights(artifact, bundle, whole, tmp_path):
    base = arrays(load_model(bundle))
    # A recipe's rate is above zero.
    recipe = recipe_on(bundle, steps=2, learning_rate=1e-30)
    still = arrays(run(recipe, artifact, tmp_path / "run", tmp_path / "c"))
    for name, each in still.items():
        np.testing.assert_allclose(each, base[name], rtol=0, atol=1e-20, err_msg=name)
    said = json.loads((tmp_path / "run" / START_FILE).read_text())
    assert (said["bundle"], said["fresh"]) == (bundle, [])
    assert said["trained_parameters"] == sum(each.size for each in still.values())
    assert said["unused"] and all(name.startswith(("heads/pair", "heads/pool")) for name in said["unused"])
    assert [name for name, each in whole.weights.items() if np.array_equal(each, base[name])] == []


def test_killed_and_resumed_equals_uninterrupted_without_the_base(artifact, bundle, whole, tmp_path):
    recipe = recipe_on(bundle)
    with taken_away(bundle), steps_made() as steps:
        resumed = run(recipe, artifact, tmp_path / "second", whole.killed)
    assert steps == [3, 4]
    assert_equal(arrays(resumed), whole.weights)
    assert (tmp_path / "second" / START_FILE).read_text() == (whole.place / START_FILE).read_text()


def test_a_table_that_no_one_has_trained_is_not_frozen():
    model = model_of("causal_lm, table of its own")
    check_frozen(model, ["heads/table"], "base")
    METHODS["ia3"](model, IA3(), 1)
    check_frozen(model, [path for path in weights_by_path(model) if path.startswith("added/")], "base")
    with pytest.raises(BundleError, match=r"heads/table.*full and head"):
        check_frozen(model, ["heads/table"], "base")


def saved_state(checkpoints) -> SavedState:
    (folder,) = (each for each in checkpoints.iterdir() if each.name != "rows")
    return newest_state(str(folder))


def test_the_optimizer_goes_on_where_it_is_asked_for(artifact, tmp_path):
    place, steps = tmp_path / "first", 2
    trained = run(tiny_recipe(True, steps=2), artifact, tmp_path / "curve", place / "checkpoints")
    bundle = place / "pipeline" / "Trainer" / "model" / "3" / "bundle"
    save_model(trained, tiny_recipe(True, steps=2), artifact / "tokenizer", bundle)
    before = saved_state(place / "checkpoints")
    # So small a rate moves no weight, and without dropout no draw depends on the updates made.
    recipe = recipe_on(str(bundle), steps=steps, learning_rate=1e-30)
    still = {"dropout": 0.0, "attention": AttentionConfig(heads=2, dropout=0.0)}
    recipe = recipe.model_copy(update={"model": recipe.model.model_copy(update=still)})
    taken = recipe.base.model_copy(update={"take_optimizer": True, "updates": 2})
    for base, said in ((taken, "taken"), (recipe.base, "fresh")):
        run(recipe.model_copy(update={"base": base}), artifact, tmp_path / said, tmp_path / f"c_{said}")
        assert json.loads((tmp_path / said / START_FILE).read_text())["optimizer"] == said
    after, fresh = saved_state(tmp_path / "c_taken"), saved_state(tmp_path / "c_fresh")
    assert int(after["optimizer/iteration"]) == 2 + steps == 2 + int(fresh["optimizer/iteration"])
    # Gradients are the same: what is left of the old velocities is the difference.
    names = [name for name in after if name.endswith("_velocity")]
    assert names and not any("pair" in name for name in names)
    for name in names:
        left = 0.999**steps * before[name]
        np.testing.assert_allclose(after[name] - fresh[name], left, rtol=1e-3, atol=1e-9, err_msg=name)
    rates = [[line["learning_rate"] for line in read_history(tmp_path / said)] for said in ("taken", "fresh")]
    # As the optimizer uses them: the warm-up of two steps begins again.
    assert rates[0] == rates[1]
    assert rates[0][:2] == pytest.approx([0.5e-30, 1e-30], rel=1e-6)


def test_another_tokenizer_than_the_bases_is_refused(artifact, bundle, tmp_path):
    recipe = recipe_on(bundle)
    save_tokenizer(WordPieceTokenizer([*VOCABULARY[:-1], "other"]), tmp_path / "tokenizer")
    patterns = [str(artifact / "Split-train" / "*")]
    with pytest.raises(BundleError, match="tokenizer"):
        train(recipe, patterns, str(tmp_path / "tokenizer"), str(tmp_path / "run"), str(tmp_path / "c"))


def test_a_bundle_whose_run_has_lost_its_checkpoints_has_no_optimizer(artifact, bundle, tmp_path):
    recipe = recipe_on(bundle)
    recipe = recipe.model_copy(
        update={"base": recipe.base.model_copy(update={"take_optimizer": True, "updates": 2})}
    )
    with pytest.raises(BundleError, match="no checkpoint"):
        run(recipe, artifact, tmp_path / "run", tmp_path / "c")


def test_another_bundle_in_the_place_starts_anew_and_is_never_mixed_in(artifact, bundle, whole, tmp_path):
    recipe = recipe_on(bundle)
    shutil.copytree(whole.checkpoints, tmp_path / "c")
    with taken_away(bundle):
        write_bundle(tmp_path / "bundle2", seed=8)
        shutil.move(tmp_path / "bundle2", bundle)
        # A finished run stays finished.
        with steps_made() as steps:
            run(recipe, artifact, tmp_path / "again", tmp_path / "c")
        assert steps == []
        with pytest.raises(BundleError, match=f"{bundle} .*digest"):
            run(recipe.model_copy(update={"seed": 1}), artifact, tmp_path / "other", tmp_path / "c")
        with steps_made() as steps:
            run(recipe_on(bundle), artifact, tmp_path / "second", tmp_path / "c")
        assert steps[0] == 1
