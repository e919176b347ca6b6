"""Labelled data in published formats."""

import json

import pytest

from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.data import PublishedData
from firth.tasks.labelled.data import fingerprint, read_labelled_data
from firth.tasks.readers import RefusedFileError
from tests.shared_data import shared_data
from tests.tasks.labelled.files import write


def sst2(folder, **values):
    """A folder of SST-2 as it is published, small."""
    header = "sentence\tlabel"
    write(folder, "train.tsv", header, "a film\t1", "a bore\t0", "odd\t2")
    write(folder, "dev.tsv", header, "a bore\t0", "fine\t1")
    write(folder, "test.tsv", "index\tsentence", "0\tunknown")
    return PublishedData(format="sst2", folder=str(folder), **values)


def test_a_part_of_a_published_format_is_held_out_where_it_has_no_other_split(tmp_path):
    held = sst2(tmp_path, eval=None)
    rows = [f"film {number}\t{number % 2}" for number in range(20)]
    write(tmp_path, "train.tsv", "sentence\tlabel", *rows)
    found = read_labelled_data(held, Classification())
    assert found.held_out and sum(len(split.records) for split in found.splits.values()) == 20
    assert fingerprint(held) != fingerprint(sst2(tmp_path))
    (tmp_path / "dev.tsv").unlink()
    assert fingerprint(held)


def test_a_published_format(tmp_path):
    found = read_labelled_data(sst2(tmp_path), Classification())
    assert (found.source, found.labels, found.held_out) == ("sst2", ("0", "1"), False)
    report = found.report()
    assert report["splits"]["train"]["rejected"] == {"unknown_label": 1}
    assert report["splits"]["eval"]["file"].endswith("dev.tsv")
    assert report["in_both_splits"]["records"] == 1


@pytest.mark.parametrize("split", ["train", "eval"])
def test_a_split_without_labels_is_never_scored(tmp_path, split):
    with pytest.raises(RefusedFileError, match=rf"data\.{split}: .*'test'"):
        read_labelled_data(sst2(tmp_path, **{split: "test"}), Classification())


def test_a_published_format_of_another_task_is_refused(tmp_path):
    data = sst2(tmp_path)
    with pytest.raises(RefusedFileError, match=r"GLUE SST-2 .*class.*number"):
        read_labelled_data(data, Regression())
    with pytest.raises(RefusedFileError, match=r"GLUE SST-2 .*text, pair"):
        read_labelled_data(data, Classification(pair=True))


def test_a_published_format_has_the_tasks_roles(tmp_path):
    """BoolQ's question and passage are the two texts of a pair."""
    rows = [{"question": "is it", "passage": "It is.", "label": each, "idx": each} for each in (False, True)]
    for name in ("train.jsonl", "val.jsonl"):
        write(tmp_path, name, *map(json.dumps, rows))
    found = read_labelled_data(PublishedData(format="boolq", folder=str(tmp_path)), Classification(pair=True))
    assert found.splits["train"].records[0].texts == {"text": "is it", "pair": "It is."}
    assert found.labels == ("false", "true")


@pytest.mark.needs_data("glue", twin="test_a_published_format")
@pytest.mark.parametrize(
    ("name", "task", "kept"),
    [
        pytest.param("cola", Classification(), (8551, 1043), marks=pytest.mark.repeated),
        ("rte", Classification(pair=True), (2490, 277)),
        pytest.param("stsb", Regression(pair=True), (5749, 1500), marks=pytest.mark.repeated),
        ("wnli", Classification(pair=True), (635, 71)),
    ],
)
def test_glue(name, task, kept):
    found = read_labelled_data(PublishedData(format=name, folder=str(shared_data("glue"))), task)
    report = found.report()
    assert tuple(each["kept"] for each in report["splits"].values()) == kept
    assert all(each["rejected"] == {} for each in report["splits"].values())
    for each in report["splits"].values():
        assert not found.labels or sum(each["labels"].values()) == each["kept"]


@pytest.mark.needs_data("glue", twin="test_a_split_without_labels_is_never_scored")
def test_test_data_of_glue_are_never_scored():
    data = PublishedData(format="sst2", folder=str(shared_data("glue")), eval="test")
    with pytest.raises(RefusedFileError, match="has no labels"):
        read_labelled_data(data, Classification())
