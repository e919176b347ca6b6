"""Runs that adapt a bundle by each method: what moves, what stays bit for bit, and a resume."""

import math

import numpy as np
import pytest

from firth import features
from firth.models import build_model, load_model
from firth.models.bundle import weights_by_path
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.run.adapting import AdaptingRecipe
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from firth.training import train
from tests.training.artifacts import VOCABULARY, raw_row, tiny_recipe, write_bundle, write_rows
from tests.training.kills import copies_after, steps_made

ROWS, BATCH = 7, 4
EPOCH = math.ceil(ROWS / BATCH)
FIRST, LAST = "backbone/encoder/block_0/", "backbone/encoder/block_1/"
EMBEDDINGS, HEADS = "backbone/", "heads/"


@pytest.fixture(scope="module")
def pre_trained(tmp_path_factory) -> AdaptingRecipe:
    """A recipe over a bundle of two layers, next to which are labelled rows."""
    folder = tmp_path_factory.mktemp("labelled")
    recipe = tiny_recipe()
    recipe = recipe.model_copy(update={"model": recipe.model.model_copy(update={"layers": 2})})
    bundle = write_bundle(folder / "bundle", recipe)
    save_tokenizer(WordPieceTokenizer(VOCABULARY), folder / "tokenizer")
    rows = [{**raw_row(number), features.RECORD_LABELS: [number % 2, 1]} for number in range(ROWS)]
    write_rows(folder / "Split-train" / "data-00000.gz", rows)
    optimizer = {"kind": "adamw", "learning_rate": 0.01, "warmup_steps": 0, "weight_decay": 0.5}
    optimizer |= {"schedule": "constant"}
    training = {"steps": 3 * EPOCH, "batch_size": BATCH, "checkpoint_every_steps": 2, "log_every_steps": 1}
    return AdaptingRecipe(
        name="adapted",
        data={"kind": "columns", "train": "labelled.csv"},
        base={"bundle": bundle, "digest": digest_of_bundle(bundle)},
        tokenizer=recipe.tokenizer,
        sequences=recipe.sequences,
        model=recipe.model,
        task={"kind": "classification", "labels": ("no", "yes")},
        training={**training, "optimizer": optimizer},
    )


def with_method(recipe, **method) -> AdaptingRecipe:
    return AdaptingRecipe.of({**recipe.model_dump(), "method": method})


def run(recipe, place, checkpoints):
    folder = recipe.base.bundle.removesuffix("bundle")
    model = train(recipe, [f"{folder}Split-train/*"], f"{folder}tokenizer", str(place), str(checkpoints))
    return {path: np.array(each) for path, each in weights_by_path(model).items()}


def moved_parts(recipe, weights) -> set[str]:
    """The parts of the model with weights that differ from those at the start."""
    of_base = weights_by_path(load_model(recipe.base.bundle))
    start = {**weights_by_path(build_model(recipe)), **{p: w for p, w in of_base.items() if p in weights}}
    return {
        next(part for part in (FIRST, LAST, EMBEDDINGS, HEADS) if path.startswith(part))
        for path, each in weights.items()
        if not np.array_equal(each, start[path])
    }


# `tests/tuning` asks the same of every method's own step.
@pytest.mark.parametrize(
    "method, moved",
    [
        pytest.param({"kind": "full"}, {EMBEDDINGS, FIRST, LAST}, marks=pytest.mark.repeated),
        ({"kind": "head"}, set()),
        ({"kind": "last_layers", "layers": 1}, {LAST}),
        pytest.param(
            {"kind": "discriminative", "decay": 0.5}, {EMBEDDINGS, FIRST, LAST}, marks=pytest.mark.repeated
        ),
    ],
)
@pytest.mark.usefixtures("eager")
def test_what_a_method_trains_moves_and_the_rest_stays_bit_for_bit(pre_trained, tmp_path, method, moved):
    recipe = with_method(pre_trained, **method)
    weights = run(recipe, tmp_path / "run", tmp_path / "c")
    assert moved_parts(recipe, weights) == {HEADS, *moved}


# In three epochs of gradual unfreezing, of which the first is that of the heads.
CHOOSING = {
    "gradual_unfreezing": ({}, {LAST, FIRST}),
    "head": ({}, set()),
    "last_layers": ({"layers": 1}, {LAST}),
    "discriminative": ({"decay": 0.5}, {EMBEDDINGS, FIRST, LAST}),
}


@pytest.mark.repeated
@pytest.mark.parametrize("kind", CHOOSING)
def test_a_run_that_is_killed_and_goes_on_equals_uninterrupted(kind, pre_trained, tmp_path):
    settings, moved = CHOOSING[kind]
    recipe = with_method(pre_trained, kind=kind, **settings)
    with copies_after(tmp_path / "c", {3: tmp_path / "killed"}):
        expected = run(recipe, tmp_path / "first", tmp_path / "c")
    with steps_made() as steps:
        resumed = run(recipe, tmp_path / "second", tmp_path / "killed")
    assert steps == [3, 4, 5, 6]
    assert moved_parts(recipe, expected) == {HEADS, *moved} and resumed.keys() == expected.keys()
    for path, each in resumed.items():
        np.testing.assert_array_equal(each, expected[path], err_msg=path)
