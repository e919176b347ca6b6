"""TFX's Tuner over a recipe's keys: the trials, the best values, and a search that was ended."""

import json
import pathlib

import pytest
from keras_tuner.errors import FatalError
from tfx.components import Tuner
from tfx.components.util import examples_utils
from tfx.proto import example_gen_pb2, trainer_pb2
from tfx.types import artifact_utils, channel_utils, standard_artifacts

from firth.pipelines.trained_model import TUNER_FN
from firth.recipes.run.search import Search, with_values
from firth.training.checkpoints import run_key
from firth.training.loop import NonFiniteLossError
from firth.training.search import trials
from firth.training.search.trials import SearchError
from tests.components.components_corpus_test import run
from tests.training.artifacts import tiny_recipe, write_artifact, write_split

RATE = "training.optimizer.learning_rate"


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    examples = standard_artifacts.Examples()
    examples.uri = str(tmp_path_factory.mktemp("rows"))
    write_artifact(examples.uri)
    write_split(examples.uri, count=8, split="eval", first=100)
    examples.split_names = artifact_utils.encode_split_names(["train", "eval"])
    examples_utils.set_payload_format(examples, example_gen_pb2.FORMAT_TF_EXAMPLE)
    return examples


def recipe_with(space, **settings):
    search = Search.of({"space": space, **settings})
    return tiny_recipe(steps=3).model_copy(update={"search": search})


def tune(folder, rows, recipe, attempt="first"):
    component = Tuner(
        examples=channel_utils.as_channel([rows]),
        tuner_fn=TUNER_FN,
        train_args=trainer_pb2.TrainArgs(),
        eval_args=trainer_pb2.EvalArgs(),
        custom_config={"recipe": recipe.to_json(), "checkpoint_root": str(folder / "checkpoints")},
    )
    made = run(component, {"examples": rows}, folder / attempt)
    (best,) = pathlib.Path(made["best_hyperparameters"].uri).iterdir()
    (results,) = pathlib.Path(made["tuner_results"].uri).iterdir()
    return json.loads(best.read_text())["values"], json.loads(results.read_text())


@pytest.mark.repeated
def test_the_best_of_a_grid_has_the_least_held_out_loss(tmp_path, rows):
    recipe = recipe_with({RATE: {"kind": "choices", "values": [1e-6, 2e-2]}}, algorithm="grid")
    best, results = tune(tmp_path, rows, recipe)

    assert best == {RATE: 2e-2}
    scores = {each[RATE]: each["score"] for each in results}
    assert scores.keys() == {1e-6, 2e-2} and scores[2e-2] < scores[1e-6]
    assert not list(tmp_path.glob("checkpoints/**/step-*"))


def test_no_trial_goes_on_from_another_and_what_is_known_is_not_trained_again(tmp_path, monkeypatch):
    space = {"training.steps": {"kind": "choices", "values": [2, 4]}}
    recipe = recipe_with(space, algorithm="grid")
    trained = []

    def train(recipe, checkpoint_root, **places):
        folders = {"rows", "a" * 24, "b" * 24 + "-7"}
        here = pathlib.Path(checkpoint_root)
        trained.append((recipe.training.steps, {each.name for each in here.glob("*")} & folders))
        for name in folders:
            (here / name).mkdir(parents=True, exist_ok=True)
        return float(recipe.training.steps)

    monkeypatch.setattr(trials, "train", train)
    monkeypatch.setattr(trials, "load_recipe_tokenizer", lambda *given: None)
    monkeypatch.setattr(trials, "measured", lambda objective, model, *given: model)
    places = {"tokenizer_directory": "", "eval_files": []}
    tuner = trials.RecipeTuner(recipe, places, str(tmp_path), lambda each: each)
    tuner.search()
    assert trained == [(2, set()), (4, {"rows"})]
    assert tuner._value("2", {"training.steps": 4}) == 4.0 and len(trained) == 2


def test_true_and_false_stay_what_they_are_and_a_seed_of_0_is_one(tmp_path):
    space = {"training.jit_compile": {"kind": "choices", "values": [True, False]}}
    (found,) = trials.hyperparameters(Search.of({"space": space})).space
    assert {type(found.random_sample(seed)) for seed in range(9)} == {bool}
    recipe = recipe_with(space).model_copy(update={"seed": 0})
    seeds = {trials.RecipeTuner(recipe, {}, str(tmp_path / name), None).oracle.seed for name in ("a", "b")}
    assert len(seeds) == 1


def test_a_search_that_was_ended_goes_on_within_its_trial(tmp_path, rows, monkeypatch):
    space = {RATE: {"kind": "range", "low": 1e-4, "high": 1e-2, "sampling": "log"}}
    recipe = recipe_with({**space, "training.batch_size": {"kind": "range", "low": 2, "high": 6}}, trials=2)
    values = []

    def value(tuner, trial, found):
        values.append(found)
        if len(values) == 2:
            raise SystemExit(143)
        return found[RATE]

    monkeypatch.setattr(trials.RecipeTuner, "_value", value)
    with pytest.raises(SystemExit):
        tune(tmp_path, rows, recipe)
    best, results = tune(tmp_path, rows, recipe, "again")

    # The second trial is begun again with its own values, and the first is not.
    assert len(values) == 3 and values[1] == values[2] != values[0]
    assert len(results) == 2 and best == min(values, key=lambda each: each[RATE])
    other = tune(tmp_path / "other", rows, recipe)[1]
    assert [each[RATE] for each in other] == [each[RATE] for each in results]


@pytest.fixture
def killed_after(monkeypatch):
    """Ends the search after the results of some trials were written, at most once for each."""
    ends, end = [], trials.RecipeTuner.on_trial_end

    def on_trial_end(tuner, trial):
        end(tuner, trial)
        if trial.trial_id in ends:
            ends.remove(trial.trial_id)
            raise SystemExit(137)

    monkeypatch.setattr(trials.RecipeTuner, "on_trial_end", on_trial_end)
    return ends


@pytest.mark.parametrize("settings", [
    {"algorithm": "random", "trials": 4},
    pytest.param({"algorithm": "grid", "trials": 4}, marks=pytest.mark.repeated),
    pytest.param({"algorithm": "bayesian", "trials": 5}, marks=pytest.mark.repeated),
    {"algorithm": "hyperband", "rounds": 2},
], ids=lambda settings: settings["algorithm"])  # fmt: skip
def test_a_search_that_was_killed_between_trials_goes_on_with_those_that_are_done(
    tmp_path, rows, monkeypatch, killed_after, settings
):
    space = {RATE: {"kind": "range", "low": 1e-4, "high": 1e-2, "sampling": "log"}}
    recipe = recipe_with({**space, "training.batch_size": {"kind": "range", "low": 2, "high": 6}}, **settings)
    made = []

    def value(tuner, trial, found):
        made.append(found)
        return abs(found[RATE] - 1e-3) + found["training.batch_size"] * 1e-5

    monkeypatch.setattr(trials.RecipeTuner, "_value", value)
    whole, expected = tune(tmp_path / "whole", rows, recipe), list(made)
    made.clear()
    names = sorted(each["trial_id"] for each in whole[1])
    killed_after += [names[0], names[2]]
    for attempt in ("first", "second"):
        with pytest.raises(SystemExit):
            tune(tmp_path / "killed", rows, recipe, attempt)
    assert tune(tmp_path / "killed", rows, recipe, "third") == whole
    assert made == expected


def test_trials_of_hyperband_make_parts_of_the_steps(tmp_path, rows, monkeypatch):
    """Those of the best values make more of them; the best values have nothing of KerasTuner's own."""
    space = {RATE: {"kind": "range", "low": 1e-4, "high": 1e-2, "sampling": "log"}}
    recipe = recipe_with(space, algorithm="hyperband", rounds=2)
    recipe = recipe.model_copy(update={"training": recipe.training.model_copy(update={"steps": 7})})
    steps = []

    def train(recipe, **others):
        steps.append((recipe.training.steps, run_key(recipe, "rows", "tokenizer")))

    monkeypatch.setattr(trials, "train", train)
    monkeypatch.setattr(trials, "measured", lambda *given: given[-2].training.optimizer.learning_rate)
    best, results = tune(tmp_path, rows, recipe)
    # Three begin with a third of the steps, the best of them makes all, and two make all at once.
    assert [each for each, _ in steps] == [3, 3, 3, 7, 7, 7]
    assert steps[3][1] in {key for _, key in steps[:3]} and len({key for _, key in steps}) == 5
    assert len(results) == 6 and with_values(recipe, best).training.steps == 7
    assert with_values(recipe, best).training.optimizer.learning_rate == min(each[RATE] for each in results)


def test_trials_that_diverge_are_left_out_and_other_errors_end_the_search(tmp_path, rows, monkeypatch):
    recipe = recipe_with({RATE: {"kind": "choices", "values": [0.1, 0.2, 0.3]}}, algorithm="grid")

    def value(tuner, trial, found):
        if found[RATE] > least:
            raise NonFiniteLossError(1, type("Result", (), {"loss": 1.0, "gradient_norm": 1.0})(), [])
        return found[RATE]

    monkeypatch.setattr(trials.RecipeTuner, "_value", value)
    least = 0.1
    assert [each[RATE] for each in tune(tmp_path / "some", rows, recipe)[1]] == [0.1]
    least = 0.0
    with pytest.raises(SearchError, match="none of 3 trials has a finite loss"):
        tune(tmp_path / "none", rows, recipe)
    monkeypatch.setattr(trials.RecipeTuner, "_value", lambda *given: 1 / 0)
    with pytest.raises(FatalError, match="ZeroDivisionError"):
        tune(tmp_path / "other", rows, recipe)
