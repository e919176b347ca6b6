"""Labelled records against the schema of their task: TFX's components in turn, then our gate."""

import json
import pathlib

import pytest
from tfx.components import ExampleValidator
from tfx.components.util import examples_utils
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils, channel_utils, standard_artifacts

from firth.components import TaskDataValidator, TaskSchemaGen
from firth.components.records.task_data_validator import TaskDataError
from firth.corpus.io.records import write_records
from firth.recipes.tasks.classification import Classification
from firth.recipes.tasks.text_to_text import LabelWords
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks.labelled.examples import to_example
from firth.tasks.readers.records import LabelledRecord
from firth.tasks.targets import TargetsError
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from tests.components.components_corpus_test import run
from tests.components.data.distribution_validator_executor_test import statistics_of
from tests.objectives.rows import SPECIALS


def record(number, label):
    return LabelledRecord(str(number), {"text": f"film {number}"}, label, "", 0)


TRAIN = [record(number, "yes" if number % 4 else "no") for number in range(80)]
EVAL = [record(number, "yes" if number % 4 == 0 else "no") for number in range(40)]


@pytest.fixture(scope="module")
def statistics(tmp_path_factory):
    """Statistics of records of which few have the label `no` in train, and most in eval."""
    folder = tmp_path_factory.mktemp("records")
    examples = standard_artifacts.Examples()
    examples.uri = str(folder / "examples")
    examples.split_names = artifact_utils.encode_split_names(["train", "eval"])
    examples_utils.set_payload_format(examples, example_gen_pb2.FORMAT_TF_EXAMPLE)
    for split, records in (("train", TRAIN), ("eval", EVAL)):
        part = [to_example(each, "films") for each in records]
        write_records(artifact_utils.get_split_uri([examples], split), 0, 1, part)
    return statistics_of(folder / "statistics", examples), examples


def check(folder, statistics, task, more=None, sequences=None, unknown_targets=1.0):
    """Returns the folder that the gate wrote in; it raises if the records do not fit the task."""
    statistics, _ = statistics
    schema = run(TaskSchemaGen(task=task), {}, folder / "schema")["schema"]
    given = {"statistics": statistics, "schema": schema}
    validator = ExampleValidator(**{name: channel_utils.as_channel([each]) for name, each in given.items()})
    anomalies = run(validator, given, folder / "ExampleValidator")["anomalies"]
    given = {"statistics": statistics, "anomalies": anomalies, **(more or {})}
    channels = {name: channel_utils.as_channel([each]) for name, each in given.items()}
    given["records"] = given.pop("examples", None)
    given = {name: each for name, each in given.items() if each is not None}
    return run(
        TaskDataValidator(**channels, task=task, sequences=sequences, unknown_targets=unknown_targets),
        given,
        folder / "TaskDataValidator" / "7",
    )["found"].uri


def test_records_of_the_task_pass_and_what_differs_between_splits_is_told(tmp_path, statistics):
    folder = check(tmp_path, statistics, Classification(labels=("no", "yes")))
    assert json.loads(pathlib.Path(folder, "anomalies.json").read_text()) == []
    found = json.loads(pathlib.Path(folder, "skew.json").read_text())
    assert [(each["feature"], each["value"], each["train"], each["eval"]) for each in found] == [
        ("label", "no", 0.25, 0.75),
        ("label", "yes", 0.75, 0.25),
    ]


@pytest.mark.parametrize(("task", "problem"), [
    (Classification(labels=("maybe", "yes")), r"label: Unexpected string values \(.*no"),
    (Classification(labels=("no", "yes"), pair=True), "pair: Column dropped"),
])  # fmt: skip
def test_records_that_do_not_fit_stop_the_run(tmp_path, statistics, task, problem):
    with pytest.raises(TaskDataError, match=problem):
        check(tmp_path, statistics, task)


def test_targets_that_the_base_cannot_write_stop_the_run(tmp_path, statistics):
    """The texts of the labels are in English; the vocabulary has none of their words but one."""
    save_tokenizer(WordPieceTokenizer([*SPECIALS, "yes"]), tmp_path / "base" / "tokenizer")
    base = standard_artifacts.Model()
    base.uri = str(tmp_path / "base")
    task = LabelWords(labels=("no", "yes"))
    given = {"examples": statistics[1], "base": base}

    def targets(limit):
        sequences = Sequences(length=16, max_documents=2)
        folder = check(tmp_path / str(limit), statistics, task, given, sequences, limit)
        return json.loads(pathlib.Path(folder, "targets.json").read_text())

    found = targets(0.5)
    assert {split: (each["targets"], each["with_unknown"]) for split, each in found.items()} == {
        "train": (80, 20),
        "eval": (40, 30),
    }
    with pytest.raises(TargetsError, match=r"20 of 80 targets of train .*'no'.*validation\.unknown_targets"):
        targets(0.1)
    assert any("failed" in path.parts for path in (tmp_path / "0.1").rglob("targets.json"))
