"""Files of texts to write."""

import pytest

from firth.recipes.tasks.data import PublishedData
from firth.tasks.labelled.data import fingerprint
from firth.tasks.readers import RefusedFileError, read_split
from tests.shared_data import shared_data


def test_summaries(tmp_path):
    (tmp_path / "validation.csv").write_text(
        'article,highlights,id\n"A, b.","One.\nTwo.",7\nx, ,8\n"a","b",7\n'
    )
    found = read_split("cnn_dailymail", str(tmp_path), "dev")
    assert [(each.id, each.texts, each.label) for each in found.records] == [
        ("7", {"text": "A, b."}, "One.\nTwo.")
    ]
    assert found.counts == {"empty_text": 1, "duplicate_id": 1}


def test_translations(tmp_path):
    (tmp_path / "val.en").write_text("A cat .\nA dog .\n\n")
    (tmp_path / "val.de").write_text("Eine Katze .\n \nEin Wort .\n")
    found = read_split("multi30k", str(tmp_path), "dev")
    assert [(each.texts["text"], each.label, each.line) for each in found.records] == [
        ("A cat .", "Eine Katze .", 1)
    ]
    assert [(each.reason, each.line) for each in found.rejected] == [("empty_text", 2), ("empty_text", 3)]
    (tmp_path / "val.de").write_text("Eine Katze .\n")
    with pytest.raises(RefusedFileError, match=r"val\.de: .*1 lines.*val\.en .*3"):
        read_split("multi30k", str(tmp_path), "dev")
    (tmp_path / "val.de").unlink()
    with pytest.raises(RefusedFileError, match=r"val\.de: "):
        read_split("multi30k", str(tmp_path), "dev")


def test_other_translations_are_other_data(tmp_path):
    for name in ("train.en", "train.de", "val.en", "val.de"):
        (tmp_path / name).write_text("a\n")
    data = PublishedData(format="multi30k", folder=str(tmp_path))
    before = fingerprint(data)
    assert fingerprint(data) == before
    (tmp_path / "val.de").write_text("b\n")
    assert fingerprint(data) != before


TWIN = "tests/tasks/readers/texts_test.py::test_translations"


@pytest.mark.repeated
@pytest.mark.needs_data("multi30k_en_de", twin=TWIN)
def test_multi30k():
    folder = str(shared_data("multi30k_en_de"))
    counts = {split: len(read_split("multi30k", folder, split).records) for split in ("train", "dev", "test")}
    assert counts == {"train": 29000, "dev": 1014, "test": 1000}


@pytest.mark.needs_data("cnn_dailymail", twin="tests/tasks/readers/texts_test.py::test_summaries")
def test_cnn_dailymail():
    found = read_split("cnn_dailymail", str(shared_data("cnn_dailymail")), "dev")
    assert (len(found.records), found.rejected) == (500, [])
