"""Stages of a run: rows of one length after rows of another, under one optimizer."""

import numpy as np
import pytest

from firth.recipes import Recipe
from firth.recipes.run.stages import rows_folder, stages_of
from firth.recipes.training.training import Stage
from firth.training import read_history, train
from tests.training.artifacts import raw_row, tiny_recipe, write_artifact, write_rows
from tests.training.kills import copies_after, steps_made

STEPS, SWITCH, LENGTH = 5, 3, 22
CURVE = ("step", "loss", "gradient_norm", "learning_rate", "tokens")
pytestmark = pytest.mark.usefixtures("eager_steps")


@pytest.fixture(scope="module")
def recipe():
    """Three steps of two rows of 22 tokens, then two of four rows of 24."""
    stage = Stage(length=LENGTH, steps_fraction=0.6, batch_size=2, max_predictions=3)
    return tiny_recipe(steps=STEPS, checkpoint_every_steps=1, earlier_stages=(stage,))


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    """Rows of the last stage, and shorter ones where SequenceGen puts them."""
    directory = tmp_path_factory.mktemp("artifact")
    write_artifact(directory)
    shorter = directory / rows_folder(LENGTH) / "Split-train" / "data-00000.gz"
    write_rows(shorter, [raw_row(index) for index in range(100, 112)])
    return directory


def run(recipe, artifact, directory):
    places = str(directory / "run"), str(directory / "checkpoints")
    model = train(recipe, [str(artifact / "Split-train" / "*")], str(artifact / "tokenizer"), *places)
    return model.get_weights(), curve(directory / "run")


def curve(directory):
    return [tuple(line[name] for name in CURVE) for line in read_history(directory)]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Folders of checkpoints as a kill after these steps would leave them."""
    folder = tmp_path_factory.mktemp("killed")
    return {step: folder / str(step) for step in (2, 4)}


@pytest.fixture(scope="module")
def uninterrupted(eager_steps, recipe, artifact, tmp_path_factory, killed):
    directory = tmp_path_factory.mktemp("whole")
    with copies_after(directory / "checkpoints", killed):
        return run(recipe, artifact, directory)


def test_stages_share_steps_and_learning_rate(recipe, uninterrupted):
    assert [(start, end) for start, end, _ in stages_of(recipe)] == [(0, SWITCH), (SWITCH, STEPS)]
    _, lines = uninterrupted
    assert [line[0] for line in lines] == list(range(1, STEPS + 1))
    rates = [line[3] for line in lines]
    assert rates[1:] == pytest.approx([1e-2 * (1 - done / (STEPS - 2)) for done in [0, *range(STEPS - 2)]])
    tokens = np.diff([0, *(line[4] for line in lines)])
    # Two rows a step, then four.
    assert tokens[:SWITCH].max() <= 2 * LENGTH < tokens[SWITCH:].min()


@pytest.mark.parametrize(("step", "saved"), [pytest.param(2, 1, marks=pytest.mark.repeated), (4, SWITCH)])
def test_a_killed_run_goes_on_in_its_stage(step, saved, recipe, artifact, uninterrupted, killed, tmp_path):
    """The last checkpoint before step 4 is the last one of the first stage."""
    killed[step].rename(tmp_path / "checkpoints")
    assert max(path.name for path in tmp_path.glob("checkpoints/*/step-*")) == f"step-{saved:010d}"
    with steps_made() as steps:
        weights, lines = run(recipe, artifact, tmp_path)
    assert steps == list(range(saved + 1, STEPS + 1))
    assert lines == uninterrupted[1]
    for value, expected in zip(weights, uninterrupted[0], strict=True):
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"length": 64},
            r"earlier_stages.0: sequences.length: 64 .* model.positions.length: 24",
        ),
        (
            {"max_predictions": 23},
            r"earlier_stages.0: objective.max_predictions: 23 .* sequences.length",
        ),
        ({"steps_fraction": 0.6}, r"earlier_stages: .*steps_fraction .*1\.2"),
        ({"batch_size": 3}, r"replicas: 2 .*batch_size: 3"),
    ],
)
def test_stages_that_cannot_work_are_refused(changes, message, recipe):
    data = recipe.model_dump(mode="json")
    stage = {"length": LENGTH, "steps_fraction": 0.1, "batch_size": 2, **changes}
    data["training"] |= {"strategy": "mirrored", "replicas": 2}
    data["training"]["earlier_stages"].append(stage)
    if "length" in changes or "max_predictions" in changes:
        data["training"]["earlier_stages"] = [stage]
    with pytest.raises(ValueError, match=message):
        Recipe.model_validate_json(Recipe.model_construct(**data).model_dump_json(warnings=False))
