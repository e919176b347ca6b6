"""LabelledExampleGen on small files, as TFX runs it."""

import json

import pytest
from tfx.dsl.components.base.base_executor import BaseExecutor
from tfx.types import artifact_utils

from firth.components import LabelledExampleGen
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.data import ColumnData
from firth.tasks.labelled.examples import from_example
from firth.tasks.readers import RefusedFileError
from tests.corpus.helpers import read_records

ROWS = ["text,label", *(f"film {number},{number % 3}" for number in range(30)), ",1"]


def run(component, folder):
    """Runs the executor with the execution properties that the component declares."""
    (artifact,) = [channel.type() for channel in component.outputs.values()]
    artifact.uri = str(folder)
    context = BaseExecutor.Context(tmp_dir=str(folder / "temporary"), unique_id="1")
    component.EXECUTOR_SPEC.executor_class(context).Do(
        {}, {"examples": [artifact]}, component.exec_properties
    )
    return artifact


@pytest.fixture
def data(tmp_path):
    (tmp_path / "films.csv").write_text("\n".join(ROWS))
    return ColumnData(train=str(tmp_path / "films.csv"), eval_fraction=0.3)


def records_of(examples, split):
    folder = artifact_utils.get_split_uri([examples], split)
    return [from_example(each) for each in read_records(f"{folder}/*")]


def test_records_are_written_by_split_with_a_report(tmp_path, data):
    examples = run(LabelledExampleGen(data, Classification()), tmp_path / "out")
    assert artifact_utils.decode_split_names(examples.split_names) == ["train", "eval"]
    assert examples.get_string_custom_property("payload_format") == "FORMAT_TF_EXAMPLE"
    assert examples.get_string_custom_property("source") == "films"
    train, evaluated = (records_of(examples, split) for split in ("train", "eval"))
    assert {source for _, source in train + evaluated} == {"films"}
    assert sorted(record.texts["text"] for record, _ in train + evaluated) == sorted(
        f"film {number}" for number in range(30)
    )
    assert all(record.label == str(int(record.texts["text"].split()[1]) % 3) for record, _ in train)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["splits"]["train"]["kept"] == len(train)
    assert report["splits"]["eval"]["kept"] == len(evaluated)
    assert report["splits"]["train"]["rejected"] == {"empty_text": 1}
    assert report["labels"] == ["0", "1", "2"]


def test_the_same_data_are_the_same_bytes(tmp_path, data):
    for name in ("a", "b"):
        run(LabelledExampleGen(data, Regression()), tmp_path / name)
    files = [sorted((tmp_path / name).rglob("*.gz")) for name in ("a", "b")]
    assert len(files[0]) == 2
    assert [each.read_bytes() for each in files[0]] == [each.read_bytes() for each in files[1]]


def test_a_changed_file_changes_the_execution_properties(tmp_path, data):
    before = LabelledExampleGen(data, Classification()).exec_properties
    assert LabelledExampleGen(data, Classification()).exec_properties == before
    (tmp_path / "films.csv").write_text("\n".join([*ROWS, "another,1"]))
    assert LabelledExampleGen(data, Classification()).exec_properties != before


def test_data_that_cannot_be_learned_from_are_refused(tmp_path, data):
    (tmp_path / "films.csv").write_text("text,label\na,1\nb,1\nc,1\n")
    with pytest.raises(RefusedFileError, match="have the label '1'"):
        run(LabelledExampleGen(data, Classification()), tmp_path / "out")
    with pytest.raises(RefusedFileError, match="there is no such file"):
        LabelledExampleGen(ColumnData(train=str(tmp_path / "no.csv")), Classification())
