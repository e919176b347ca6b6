"""Gradients that are summed over parts of a batch, or of blocks computed again, are those of the batch."""

import numpy as np
import pytest

from firth.training import read_history, train as train_recipe
from tests.training.artifacts import write_artifact
from tests.training.eagerly import eagerly
from tests.training.train_replicas import STEPS, recipes
from tests.training.word_artifacts import write_word_artifact

# The first step, and a block of two.
FEW = 3
WRITERS = {"bert": write_artifact, "elmo": write_word_artifact}


def run(name, directory, steps, **training):
    """The curve and the weights; both recipes clip, and draw for each example and for a batch."""
    WRITERS[name](directory)
    recipe = recipes(1)[name]
    recipe = recipe.model_copy(
        update={"training": recipe.training.model_copy(update={"steps": steps, **training})}
    )
    places = [str(directory / part) for part in ("tokenizer", "run", "checkpoints")]
    model = train_recipe(recipe, [str(directory / "Split-train" / "*")], *places)
    return read_history(directory / "run"), model.get_weights()


def assert_equal(one, other):
    (curve, weights), (other_curve, other_weights) = one, other
    for line, other_line in zip(curve, other_curve, strict=True):
        for key in (name for name in line if name.endswith("loss") or name in ("gradient_norm", "tokens")):
            assert line[key] == pytest.approx(other_line[key], rel=1e-5), (line["step"], key)
    for value, other_value in zip(weights, other_weights, strict=True):
        np.testing.assert_allclose(value, other_value, rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    with eagerly():
        return run("bert", tmp_path_factory.mktemp("whole"), FEW)


@pytest.mark.repeated
@pytest.mark.usefixtures("eager")
def test_parts_of_a_batch_equal_the_batch(whole, tmp_path):
    """Parts hold different numbers of predictions."""
    assert_equal(whole, run("bert", tmp_path / "parts", FEW, gradient_accumulation_steps=2))


@pytest.mark.repeated
@pytest.mark.parametrize("name", list(WRITERS))
def test_the_smallest_parts_equal_the_batch_too(tmp_path, name):
    whole = run(name, tmp_path / "whole", STEPS)
    batch_size = recipes(1)[name].training.batch_size
    assert_equal(whole, run(name, tmp_path / "parts", STEPS, gradient_accumulation_steps=batch_size))


AGAIN = {"rematerialisation": "blocks", "gradient_accumulation_steps": 2, "steps_per_execution": 2}


@pytest.mark.usefixtures("eager")
def test_blocks_that_are_computed_again_change_nothing(whole, tmp_path):
    """In parts of a batch, and in blocks of steps."""
    assert_equal(whole, run("bert", tmp_path / "again", FEW, **AGAIN))


@pytest.mark.repeated
def test_layers_of_elmo_that_are_computed_again_change_nothing(tmp_path):
    whole = run("elmo", tmp_path / "whole", STEPS)
    assert_equal(whole, run("elmo", tmp_path / "again", STEPS, **AGAIN))
