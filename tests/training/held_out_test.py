"""Held-out losses during training are the model's own, and the same after a resume."""

import pathlib
import signal
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from firth import features
from firth.models import example_sums, total_loss
from firth.objectives import MaskedLMObjective
from firth.tokenizers import load_tokenizer
from firth.training import read_history, train
from firth.training.held_out import HeldOut
from firth.training.row_files import RowsError, read_rows
from firth.training.termination import TrainingInterrupted
from tests.training.artifacts import LIMITS, tiny_recipe, write_artifact, write_split
from tests.training.kills import copies_after, steps_made

ROWS = 10
pytestmark = pytest.mark.usefixtures("eager_steps")


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    directory = tmp_path_factory.mktemp("artifact")
    return directory, write_artifact(directory), write_split(directory, 16, split="eval", first=100)


def run(artifact, directory):
    folder, train_files, eval_files = artifact
    recipe = tiny_recipe(steps=4, eval_every_steps=3, eval_rows=ROWS, checkpoint_every_steps=2)
    places = str(directory / "run"), str(directory / "checkpoints")
    return recipe, train(recipe, train_files, str(folder / "tokenizer"), *places, eval_files)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The folder of checkpoints as a kill after the third step would leave it."""
    return tmp_path_factory.mktemp("killed") / "checkpoints"


@pytest.fixture(scope="module")
def trained(eager_steps, artifact, tmp_path_factory, killed):
    directory = tmp_path_factory.mktemp("whole")
    with copies_after(directory / "checkpoints", {3: killed}):
        return (*run(artifact, directory), directory / "run")


def held_out(directory):
    return [
        {key: line.get(key) for key in ("step", "held_out_loss", "samples")}
        for line in read_history(directory)
    ]


def test_the_last_loss_is_that_of_the_model(artifact, trained, tmp_path):
    """Of the first rows, with the masks that the Evaluator draws."""
    recipe, model, directory = trained
    records = [r for path in sorted((artifact[0] / "Split-eval").iterdir()) for r in records_of(path)][:ROWS]
    with tf.io.TFRecordWriter(str(tmp_path / "rows")) as writer:
        for record in records:
            writer.write(record)
    rows = read_rows([str(tmp_path / "rows")], str(tmp_path / "cache"), LIMITS).take(np.arange(ROWS))
    objective = MaskedLMObjective(
        recipe.objective, recipe.sequences, load_tokenizer(str(artifact[0] / "tokenizer"))
    )
    seeds = np.stack([np.full(ROWS, recipe.seed), rows[features.EXAMPLE_ID]], axis=1)
    nobody = {name: np.zeros_like(value) for name, value in rows.items()}
    mapped = tf.autograph.experimental.do_not_convert(objective)
    examples = tf.data.Dataset.from_tensor_slices((rows, nobody, seeds)).map(mapped).batch(ROWS)
    expected = total_loss(example_sums(model(next(iter(examples)), training=False)), recipe.objective.losses)
    line = read_history(directory)[-1]
    assert line["held_out_loss"] == pytest.approx(float(expected["loss"]), rel=1e-5)
    assert line["held_out_mlm_loss"] == pytest.approx(float(expected["mlm_loss"]), rel=1e-5)


def records_of(path):
    return list(tf.data.TFRecordDataset(str(path), "GZIP").as_numpy_iterator())


def test_losses_and_samples_stand_in_history_and_summaries(trained):
    """Those of the last step too, which the steps between them do not divide."""
    _, _, directory = trained
    lines = [line for line in held_out(directory) if line["held_out_loss"] is not None]
    assert [line["step"] for line in lines] == [3, 4]
    for line in lines:
        assert len(line["samples"]) == 3
        for sample in line["samples"]:
            assert sample["text"].count("[MASK]") == 1 and sample["answer"].startswith("w")
            assert len(sample["proposed"]) == 3
    (events,) = directory.glob("events.out.tfevents.*")
    found = {
        (event.step, value.tag)
        for event in tf.compat.v1.train.summary_iterator(str(events))
        for value in event.summary.value
    }
    assert {(3, "held_out_loss"), (4, "held_out_mlm_loss"), (3, "samples"), (1, "gradient_norm")} <= found
    assert (2, "held_out_loss") not in found


@pytest.mark.repeated
def test_the_same_after_a_resume(artifact, trained, killed, tmp_path):
    killed.rename(tmp_path / "checkpoints")
    assert max(path.name for path in tmp_path.glob("checkpoints/*/step-*")) == "step-0000000002"
    with steps_made() as steps:
        run(artifact, tmp_path)
    assert steps == [3, 4]
    assert held_out(tmp_path / "run") == held_out(trained[2])


@pytest.mark.usefixtures("ctrl_c")
def test_a_request_to_end_does_not_wait_for_a_loss_which_the_next_start_measures(artifact, trained, tmp_path):
    """In the middle, and after the last step."""
    measure, asked = HeldOut.__call__, []

    def interrupt(self):
        asked.append(1)
        # The second start measures first what the first one did not.
        if len(asked) != 2:
            signal.raise_signal(signal.SIGINT)
        return measure(self)

    for step in (3, 4):
        with mock.patch.object(HeldOut, "__call__", interrupt), pytest.raises(TrainingInterrupted) as caught:
            run(artifact, tmp_path)
        assert caught.value.step == step and pathlib.Path(caught.value.checkpoint).is_dir()
        assert held_out(tmp_path / "run")[-1] == {"step": step, "held_out_loss": None, "samples": None}
    with steps_made() as steps:
        run(artifact, tmp_path)
    assert steps == [] and len(asked) == 3
    assert held_out(tmp_path / "run") == held_out(trained[2])


def test_a_truncated_file_is_refused(artifact, tmp_path):
    folder, _, eval_files = artifact
    tokenizer, recipe = load_tokenizer(str(folder / "tokenizer")), tiny_recipe(eval_rows=64)
    whole, *_ = sorted(path for pattern in eval_files for path in tf.io.gfile.glob(pattern))
    for missing in (4, 40):
        path = tmp_path / f"{missing}.gz"
        path.write_bytes(pathlib.Path(whole).read_bytes()[:-missing])
        with pytest.raises(RowsError, match=str(path)):
            HeldOut(None, tokenizer, recipe, [str(path)])
