"""Runs that adapt a bundle by each method: what moves, what stays bit for bit, and a resume."""

import math

import numpy as np
import pytest

from firth import features
from firth.models import build_model, load_model
from firth.models.bundle import weights_by_path
from firth.recipes.models.positions import LearnedPositionsConfig
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tuning.methods import method_types
from firth.recipes.tuning.prompts import PromptMethod
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from firth.training import train
from firth.training.checkpoints import SavedState
from firth.tuning import METHODS
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


@pytest.fixture(scope="module")
def with_positions(pre_trained, tmp_path_factory) -> AdaptingRecipe:
    """The same over a bundle of one layer with more positions, for virtual tokens, and rows of one record."""
    folder = tmp_path_factory.mktemp("positions")
    positions = LearnedPositionsConfig(length=2 * pre_trained.sequences.length)
    model = pre_trained.model.model_copy(update={"positions": positions, "layers": 1})
    bundle = write_bundle(folder / "bundle", tiny_recipe().model_copy(update={"model": model}))
    save_tokenizer(WordPieceTokenizer(VOCABULARY), folder / "tokenizer")
    write_rows(folder / "Split-train" / "data-00000.gz", [one_text(number) for number in range(ROWS)])
    return AdaptingRecipe.of(
        {
            **pre_trained.model_dump(),
            "base": {"bundle": bundle, "digest": digest_of_bundle(bundle)},
            "model": model.model_dump(),
            "sequences": {**pre_trained.sequences.model_dump(), "max_documents": 1},
            "training": {**pre_trained.training.model_dump(), "steps": 2 * EPOCH},
        }
    )


def one_text(number):
    """A labelled row of one text."""
    row = raw_row(number)
    length = row[features.CHUNK_LENGTHS][0]
    by_token = (features.RAW_TOKENS, features.WORD_STARTS, features.SENTENCE_STARTS)
    cut = {name: row[name][:length] for name in by_token}
    cut |= {name: row[name][:1] for name in (features.CHUNK_LENGTHS, features.DOCUMENT_KEYS)}
    return {**row, **cut, features.RECORD_LABELS: [number % 2]}


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
@pytest.mark.repeated
@pytest.mark.parametrize(
    "method, moved",
    [
        ({"kind": "full"}, {EMBEDDINGS, FIRST, LAST}),
        ({"kind": "head"}, set()),
        ({"kind": "last_layers", "layers": 1}, {LAST}),
        ({"kind": "discriminative", "decay": 0.5}, {EMBEDDINGS, FIRST, LAST}),
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


SETTINGS = {
    **{kind: {"length": 2} for kind, each in method_types().items() if issubclass(each, PromptMethod)},
    **{"last_layers": {"layers": 1}, "houlsby": {"bottleneck": 4}},
}
STATES = [pytest.param(kind, marks=() if kind == "adalora" else pytest.mark.repeated) for kind in METHODS]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("kind", STATES)
def test_checkpoints_of_a_run_that_was_killed_are_bit_for_bit_those_of_another_in_peace(
    kind, with_positions, tmp_path
):
    """Also what no weight follows from at the end: optimizer, schedules, seeds."""
    recipe = with_method(with_positions, kind=kind, **SETTINGS.get(kind, {}))
    with copies_after(tmp_path / "whole", {3: tmp_path / "killed"}):
        run(recipe, tmp_path / "first", tmp_path / "whole")
    with steps_made() as steps:
        run(recipe, tmp_path / "second", tmp_path / "killed")
    assert steps == [3, 4]
    whole, killed = (sorted((tmp_path / each).glob("*/step-*")) for each in ("whole", "killed"))
    assert [path.name for path in whole] == [path.name for path in killed] and len(whole) == 2
    for one, other in zip(whole, killed, strict=True):
        states = SavedState(str(one)), SavedState(str(other))
        assert states[0].keys() == states[1].keys()
        for name, value in states[0].items():
            np.testing.assert_array_equal(states[1][name], value, err_msg=f"{one.name} {name}")


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
