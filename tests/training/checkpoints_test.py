import os
import resource
import threading

import keras
import numpy as np
import pytest
import tensorflow as tf

from firth import storage
from firth.models import build_pretraining_model
from firth.recipes import load_recipe
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.tasks.embedding import SentenceEmbedding
from firth.training.checkpoints import Checkpoints, Progress, run_key, state_by_name
from firth.training.optimizers.optimizer_kinds import build_optimizer
from tests.training.artifacts import tiny_recipe


@pytest.fixture
def variables():
    return {
        "model/a/kernel": tf.Variable(tf.zeros((3, 2))),
        "model/b": tf.Variable(0, dtype=tf.int64),
        "optimizer/a_kernel": tf.Variable([1, 2], dtype=tf.int64),
    }


def fill(variables, value):
    for variable in variables.values():
        variable.assign(tf.cast(tf.fill(variable.shape, value), variable.dtype))


def values(variables):
    return {float(value) for variable in variables.values() for value in variable.numpy().flatten()}


def save_three(directory, variables):
    checkpoints = Checkpoints(str(directory), variables)
    for step in (5, 10, 15):
        fill(variables, step)
        checkpoints.save(Progress(step, 100 * step, 0.5))
    fill(variables, 99)
    return checkpoints


def test_newest_is_restored_and_two_are_kept(tmp_path, variables):
    checkpoints = save_three(tmp_path, variables)
    assert sorted(os.listdir(tmp_path)) == ["step-0000000010", "step-0000000015"]
    assert checkpoints.restore() == Progress(15, 1500, 0.5)
    assert values(variables) == {15}


def test_nothing_to_restore(tmp_path, variables):
    assert Checkpoints(str(tmp_path / "new"), variables).restore() == Progress(0, 0, 0.0)


def test_a_step_saved_again_replaces_the_old(tmp_path, variables):
    checkpoints = save_three(tmp_path, variables)
    fill(variables, 7)
    checkpoints.save(Progress(15, 1, 1.0))
    fill(variables, 99)
    assert checkpoints.restore() == Progress(15, 1, 1.0)
    assert values(variables) == {7}


def cut(path):
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) // 2)


HARM = {
    "cut manifest": lambda directory: cut(directory / "progress.json"),
    "no manifest": lambda directory: os.remove(directory / "progress.json"),
    "cut data": lambda directory: cut(directory / "variables.data-00000-of-00001"),
    "no index": lambda directory: os.remove(directory / "variables.index"),
    "no marker": lambda directory: os.remove(directory / storage.MARKER),
    "unfinished": lambda directory: os.rename(
        directory, directory.with_name(f".{directory.name}.{'0' * 32}")
    ),
}


@pytest.mark.parametrize("harm", HARM)
def test_one_that_is_not_whole_is_passed_over(tmp_path, variables, harm):
    save_three(tmp_path, variables)
    HARM[harm](tmp_path / "step-0000000015")
    assert Checkpoints(str(tmp_path), variables).restore() == Progress(10, 1000, 0.5)
    assert values(variables) == {10}
    assert not any(name.startswith(".") for name in os.listdir(tmp_path))


def test_a_full_disk_leaves_the_last_one(tmp_path):
    big = {"big": tf.Variable(tf.ones(100_000))}
    checkpoints = Checkpoints(str(tmp_path), big)
    checkpoints.save(Progress(1))
    fill(big, 2)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises((OSError, tf.errors.OpError)):
            checkpoints.save(Progress(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == ["step-0000000001"]
    assert checkpoints.restore().step == 1
    assert values(big) == {1}


def test_what_is_saved_is_what_was_there_when_the_writing_began(tmp_path, monkeypatch):
    """The optimizer updates in place while the thread still writes."""
    may_write = threading.Event()
    whole_folder = storage.whole_folder

    def wait_and_write(path):
        may_write.wait()
        return whole_folder(path)

    monkeypatch.setattr(storage, "whole_folder", wait_and_write)
    model = keras.layers.Dense(3)
    model.build((None, 2))
    optimizer = build_optimizer(tiny_recipe().training.optimizer, 10)
    optimizer.build(model.trainable_variables)
    state = {each.path: each.value for each in (*model.variables, *optimizer.variables)}
    expected = {name: each.numpy() for name, each in state.items()}
    checkpoints = Checkpoints(str(tmp_path), state)
    checkpoints.start(Progress(1))
    optimizer.apply([tf.ones(each.shape) for each in model.trainable_variables], model.trainable_variables)
    assert any((state[name].numpy() != value).any() for name, value in expected.items())
    assert not os.listdir(tmp_path)
    may_write.set()
    checkpoints.wait()
    assert checkpoints.restore() == Progress(1)
    for name, value in expected.items():
        np.testing.assert_array_equal(state[name].numpy(), value)


def test_a_failed_write_is_told_at_the_next(tmp_path, variables, monkeypatch):
    checkpoints = Checkpoints(str(tmp_path), variables)

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(storage, "write_json", fail)
    checkpoints.start(Progress(1))
    with pytest.raises(OSError, match="no space left"):
        checkpoints.start(Progress(2))
    monkeypatch.undo()
    checkpoints.save(Progress(3))
    assert os.listdir(tmp_path) == ["step-0000000003"]


def test_another_process_only_reads(tmp_path, variables):
    save_three(tmp_path, variables)
    (tmp_path / ".step-0000000020.begun").mkdir()
    before = sorted(os.listdir(tmp_path))
    reader = Checkpoints(str(tmp_path), variables, writes=False)
    assert reader.restore() == Progress(15, 1500, 0.5)
    reader.save(Progress(20))
    assert sorted(os.listdir(tmp_path)) == before


def test_another_shape_is_refused(tmp_path):
    Checkpoints(str(tmp_path), {"a": tf.Variable(np.zeros(3))}).save(Progress(1))
    with pytest.raises(ValueError, match="shape"):
        Checkpoints(str(tmp_path), {"a": tf.Variable(np.zeros(4))}).restore()


def test_order_is_nothing_and_names_are_all(tmp_path, variables):
    save_three(tmp_path, variables)
    turned = dict(reversed(variables.items()))
    Checkpoints(str(tmp_path), turned).restore()
    assert values(turned) == {15}
    renamed = {f"{name}_2": variable for name, variable in variables.items()}
    with pytest.raises(AssertionError):
        Checkpoints(str(tmp_path), renamed).restore()


@pytest.mark.parametrize(
    "name", [pytest.param("electra_tiny", marks=pytest.mark.repeated), "t5_1_1_tiny", "elmo_tiny"]
)
def test_names_are_those_of_every_process(name):
    recipe = load_recipe(name, ["tokenizer.vocabulary_size=600"])
    found = []
    for _ in range(2):
        model = build_pretraining_model(recipe)
        optimizer = build_optimizer(recipe.training.optimizer, recipe.training.steps)
        optimizer.build(model.trainable_variables)
        found.append(state_by_name(model, optimizer))
    assert found[0].keys() == found[1].keys()
    assert len(found[0]) == len(model.variables) + len(optimizer.variables)
    assert "model/backbone/token_embedding/table" in found[0] or name == "elmo_tiny"


def test_key_changes_with_whatever_makes_the_weights():
    recipe = tiny_recipe()
    changed = {
        "seed": recipe.model_copy(update={"seed": 1}),
        "rate": tiny_recipe(learning_rate=0.5),
        "precision": tiny_recipe(precision="mixed_bfloat16"),
    }
    for part, update in {
        "objective": {"mask_rate": 0.2},
        "model": {"dropout": 0.0},
        "sequences": {"length": 16},
        "tokenizer": {"vocabulary_size": 50},
    }.items():
        changed[part] = recipe.model_copy(update={part: getattr(recipe, part).model_copy(update=update)})
    keys = [run_key(each, "data", "tokenizer") for each in (recipe, *changed.values())]
    keys += [run_key(recipe, "other", "tokenizer"), run_key(recipe, "data", "other")]
    assert len(set(keys)) == len(changed) + 3


def test_key_does_not_change_with_what_makes_no_difference():
    recipe = tiny_recipe()
    key = run_key(recipe, "data", "tokenizer")
    other = {"steps": 99, "strategy": "mirrored", "replicas": 2, "steps_per_execution": 3}
    other |= {"checkpoint_every_steps": 1, "log_every_steps": 7, "eval_every_steps": 5, "eval_rows": 3}
    assert run_key(tiny_recipe(**other), "data", "tokenizer") == key
    assert (
        run_key(recipe.model_copy(update={"name": "other", "description": "x"}), "data", "tokenizer") == key
    )


def test_parts_of_a_batch_are_another_run_where_examples_are_compared(monkeypatch):
    def keys():
        recipes = [tiny_recipe(), tiny_recipe(gradient_accumulation_steps=2)]
        return {run_key(each, "data", "tokenizer") for each in recipes}

    assert len(keys()) == 1
    monkeypatch.setattr(MaskedLM, "compares_examples", SentenceEmbedding.compares_examples)
    assert len(keys()) == 2


def test_checkpoints_that_are_not_on_this_machine(variables):
    directory = f"ram://checkpoints/{os.getpid()}"
    checkpoints = save_three(directory, variables)
    assert storage.list_folder(directory) == ["step-0000000010", "step-0000000015"]
    assert checkpoints.restore() == Progress(15, 1500, 0.5)
    assert values(variables) == {15}
    storage.remove(f"{directory}/step-0000000015/{storage.MARKER}")
    assert Checkpoints(directory, variables).restore() == Progress(10, 1000, 0.5)
    assert values(variables) == {10}
