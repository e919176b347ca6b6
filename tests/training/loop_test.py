import functools
import itertools
import logging
import math
import os
import signal
import time
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from firth.models import build_model
from firth.recipes.training.training import Training
from firth.tokenizers import load_tokenizer
from firth.training import NonFiniteLossError, pretraining, read_history, train
from firth.training.checkpoints import Checkpoints, Progress
from firth.training.input_pipeline import training_batches
from firth.training.loop import Loop
from firth.training.pretraining import open_rows
from firth.training.step import Block, StepResult, build_block
from firth.training.termination import Termination, TrainingTerminated, termination_deferred
from firth.training.workers import Workers
from tests.training.artifacts import tiny_recipe, write_artifact
from tests.training.eagerly import eagerly


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    directory = tmp_path_factory.mktemp("artifact")
    return write_artifact(directory), str(directory / "tokenizer")


def run(recipe, artifact, directory):
    return train(recipe, *artifact, str(directory / "run"), str(directory / "checkpoints"))


def batches(recipe, artifact, directory):
    rows = open_rows(recipe, artifact[0], str(directory / "checkpoints"))
    # The graph that the training has.
    make = pretraining.OBJECTIVES[recipe.objective.kind]
    objective = make(recipe.objective, recipe.sequences, load_tokenizer(artifact[1]))
    training = recipe.training
    data = training_batches(rows, objective, recipe.seed, training.batch_size, 0, training.steps)
    return list(data.as_numpy_iterator())


def diverging(**training):
    """A recipe with a greater learning rate than a recipe may say."""
    recipe = tiny_recipe(**training)
    optimizer = recipe.training.optimizer.model_copy(update={"learning_rate": 1e30})
    return recipe.model_copy(update={"training": recipe.training.model_copy(update={"optimizer": optimizer})})


@pytest.mark.repeated
@pytest.mark.usefixtures("eager")
def test_a_loss_that_is_not_finite_stops_with_step_and_examples(artifact, tmp_path):
    recipe = diverging(checkpoint_every_steps=1)
    with pytest.raises(NonFiniteLossError) as caught:
        run(recipe, artifact, tmp_path)
    error = caught.value
    ids = batches(recipe, artifact, tmp_path)[error.step - 1][0].tolist()
    assert error.example_ids == ids
    assert str(error).startswith(f"step {error.step}: the loss is nan")
    assert all(str(example) in str(error) for example in ids)
    assert [line["step"] for line in read_history(tmp_path / "run")] == list(range(1, error.step))
    (key,) = set(os.listdir(tmp_path / "checkpoints")) - {"rows"}
    saved = os.listdir(tmp_path / "checkpoints" / key)
    assert f"step-{error.step - 1:010d}" in saved
    assert f"step-{error.step:010d}" not in saved


CURVE = ("step", "loss", "mlm_loss", "gradient_norm", "learning_rate", "tokens")


def recipe_of_blocks(steps, **training):
    return tiny_recipe(steps=8, steps_per_execution=steps, learning_rate=0.05, **training)


@pytest.fixture(scope="module")
def step_by_step(artifact, tmp_path_factory):
    """The weights, the curve and the folder of a run that reads every step's result, without a graph."""
    directory = tmp_path_factory.mktemp("steps")
    with eagerly():
        model = run(recipe_of_blocks(1), artifact, directory)
    return model.get_weights(), curve(directory), directory


def curve(directory):
    return [tuple(line[name] for name in CURVE) for line in read_history(directory / "run")]


def test_blocks_of_steps_change_no_result(artifact, tmp_path, step_by_step):
    """Dropout included; a checkpoint every four steps cuts blocks of three."""
    weights, expected, _ = step_by_step
    made = []
    model = run_and_list_blocks(recipe_of_blocks(3), artifact, tmp_path, made)
    assert made == [1, 3, 3, 1]
    assert curve(tmp_path) == expected
    for one, other in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_curve_falls_and_no_two_steps_are_alike(step_by_step):
    _, lines, _ = step_by_step
    assert [line[0] for line in lines] == list(range(1, 9))
    losses = np.array([line[1] for line in lines])
    assert losses[-3:].mean() < losses[:3].mean() - 0.3
    assert len(set(losses.tolist())) == 8


@pytest.mark.repeated
def test_a_training_that_xla_compiles_has_the_losses_of_one_that_it_does_not(
    artifact, tmp_path, step_by_step
):
    """Dropout included, in blocks of several steps."""
    run(recipe_of_blocks(3, jit_compile=True), artifact, tmp_path)
    for line, expected in zip(curve(tmp_path), step_by_step[1], strict=True):
        assert line == pytest.approx(expected, rel=1e-4)


def run_and_list_blocks(recipe, artifact, directory, made):
    """Runs a training, and appends the number of steps of each of its blocks to a list."""

    def listed(block, iterator, steps):
        made.append(steps)
        return block(iterator, steps)

    with mock.patch("firth.training.backends.build_block", around_blocks(listed)):
        return run(recipe, artifact, directory)


def around_blocks(call):
    """Returns a function that makes blocks as `build_block` does, each called by `call`."""
    return lambda *args: functools.partial(call, build_block(*args))


@pytest.mark.usefixtures("eager")
def test_a_loss_that_is_not_finite_is_found_within_its_block(artifact, tmp_path):
    """The steps before it are reported, the ones after it are not, and none of the block is saved."""
    recipe = tiny_recipe(steps=5, checkpoint_every_steps=5, steps_per_execution=5)

    def diverging(block, iterator, steps):
        made = block(iterator, steps)
        results = [
            result._replace(loss=math.inf) if number == 2 and steps > 1 else result
            for number, result in enumerate(made.results)
        ]
        return made._replace(results=results)

    with (
        mock.patch("firth.training.backends.build_block", around_blocks(diverging)),
        pytest.raises(NonFiniteLossError) as caught,
    ):
        run(recipe, artifact, tmp_path)
    # After the first step, which is a block of its own.
    assert caught.value.step == 4
    assert caught.value.example_ids == batches(recipe, artifact, tmp_path)[3][0].tolist()
    assert [line["step"] for line in read_history(tmp_path / "run")] == [1, 2, 3]
    assert not list((tmp_path / "checkpoints").glob("*/step-*"))


def test_a_process_that_is_to_end_waits_until_the_chief_has_saved():
    events = []
    termination = Termination()
    termination.set()

    class Several(Workers):
        count = property(lambda self: 2, lambda self, found: None)

        def total(self, values):
            return list(values)

        def wait(self):
            events.append("all are here")

    checkpoints = mock.Mock(start=lambda progress: "saved", wait=lambda: events.append("written"))
    result = StepResult(1.0, {}, 1.0, 8.0, 0.1)
    made = Block([result], np.zeros((1, 2), np.int64))
    workers = Several(tf.distribute.get_strategy())
    training = Training(steps=2, batch_size=2)
    loop = Loop(lambda *_: made, training, checkpoints, mock.Mock(), termination, dict, workers)
    with pytest.raises(TrainingTerminated):
        loop.run([], Progress(), 2, float)
    assert events == ["written", "all are here"]


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_block_which_compiles_is_not_waited_for(number, tmp_path):
    def block(*_):
        signal.raise_signal(number)
        time.sleep(60)

    checkpoints, workers = Checkpoints(str(tmp_path), {}), Workers(tf.distribute.get_strategy())
    for progress, said in ((Progress(), "before the first of 9"), (Progress(step=7), "after step 7 of 9; ")):
        with termination_deferred() as termination, pytest.raises(TrainingTerminated) as caught:
            training = Training(steps=9, batch_size=2)
            loop = Loop(block, training, checkpoints, mock.Mock(), termination, dict, workers)
            loop.run([], progress, 9, float)
        assert said in str(caught.value) and caught.value.code == 128 + number
    assert list(tmp_path.iterdir()) == []


def test_many_example_ids_are_cut_in_the_message():
    error = NonFiniteLossError(3, StepResult(np.inf, {"mlm": 0.0}, 0.0, 0.0, 0.0), list(range(1000, 1100)))
    assert "1031 and 68 more" in str(error)
    assert "1032" not in str(error)
    assert len(error.example_ids) == 100


@pytest.mark.usefixtures("eager")
def test_history_progress_and_token_count(artifact, tmp_path, caplog):
    recipe = tiny_recipe(True, steps=7, log_every_steps=3)
    with caplog.at_level(logging.INFO, "firth.progress"):
        run(recipe, artifact, tmp_path)
    lines = read_history(tmp_path / "run")
    assert [line["step"] for line in lines] == [1, 3, 6, 7]
    # An untrained model guesses.
    assert lines[0]["mlm_loss"] == pytest.approx(np.log(45), abs=0.1)
    assert lines[0]["nsp_loss"] == pytest.approx(np.log(2), abs=0.1)
    tokens = np.cumsum(
        [(features["document_ids"] > 0).sum() for _, features in batches(recipe, artifact, tmp_path)]
    )
    assert [line["tokens"] for line in lines] == [tokens[line["step"] - 1] for line in lines]
    # The first step compiles, and says nothing of the speed.
    assert lines[0]["tokens_per_second"] is None
    assert all(line["tokens_per_second"] > 0 for line in lines[1:])
    for line in lines:
        assert line["loss"] == pytest.approx(line["mlm_loss"] + line["nsp_loss"], rel=1e-6)
    assert [line["learning_rate"] for line in lines][:2] == pytest.approx([0.005, 0.01])
    assert all(one["seconds"] < other["seconds"] for one, other in itertools.pairwise(lines))
    events = [record.firth for record in caplog.records if record.name == "firth.progress"]
    (estimate,) = [event for event in events if event["kind"] == "estimate"]
    assert set(estimate) == {"kind", "steps", "seconds", "tokens_per_second"}
    assert estimate["steps"] == 1
    training = [event for event in events if event["kind"] == "training"]
    assert [(event["step"], event["steps"]) for event in training] == [(step, 7) for step in (1, 3, 6, 7)]
    assert set(training[0]) == {"kind", "step", "steps", "loss", "tokens_per_second", "eta_seconds"}
    assert [event["eta_seconds"] is None for event in training] == [True, False, False, False]
    assert training[-1]["eta_seconds"] == 0


@pytest.mark.repeated
def test_mixed_bfloat16_learns_as_well(artifact, tmp_path):
    """Weights and losses stay in float32."""
    model = run(tiny_recipe(steps=40, precision="mixed_bfloat16"), artifact, tmp_path)
    assert {variable.dtype for variable in model.trainable_variables} == {"float32"}
    assert model.backbone.compute_dtype == "bfloat16"
    losses = [line["loss"] for line in read_history(tmp_path / "run")]
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 0.2


def test_checkpoints_hold_everything_that_changes(step_by_step):
    """Weights, both moments, the count of updates and the state of dropout."""
    _, _, directory = step_by_step
    (key,) = set(os.listdir(directory / "checkpoints")) - {"rows"}
    path = directory / "checkpoints" / key / "step-0000000008" / "variables"
    saved = [name for name, _ in tf.train.list_variables(str(path)) if name.startswith("variables/")]
    assert len(saved) >= 3 * len(build_model(tiny_recipe()).trainable_variables) + 2
