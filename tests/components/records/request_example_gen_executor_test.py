"""Texts of a file as examples without labels, and what of it could not be read."""

import json
import pathlib

import pytest

from firth.components import RequestExampleGen
from firth.corpus.documents.example import Example
from firth.tasks.readers.records import RefusedFileError
from tests.components.components_corpus_test import run
from tests.corpus.helpers import read_records

COLUMNS = {"text": "review", "pair": "pair"}
LINES = ['{"review": "a fine film", "pair": "b"}', "no JSON", '{"review": "late"}']


def read(path, lines, folder):
    path.write_text("\n".join(lines) + "\n")
    return run(RequestExampleGen(str(path), COLUMNS, "1"), {}, folder)["examples"]


def test_records_that_can_be_read_are_examples_and_the_others_are_counted(tmp_path):
    examples = read(tmp_path / "asked.jsonl", LINES, tmp_path)

    (data,) = read_records(f"{examples.uri}/Split-requests/*")
    features = Example.FromString(data).features.feature
    assert features["id"].bytes_list.value[0] == b"1" and features["pair"].bytes_list.value[0] == b"b"
    assert features["text/words"].int64_list.value[0] == 3 and "label" not in features
    report = json.loads(pathlib.Path(examples.uri, "report.json").read_text())
    assert report["read"] == 1 and sum(report["unread"].values()) == 2
    assert f"{tmp_path}/asked.jsonl:2: " in report["first_unread"][0]


def test_a_file_of_which_nothing_can_be_read_is_refused(tmp_path):
    with pytest.raises(RefusedFileError, match=r"asked\.jsonl: .*2 records .*:1: "):
        read(tmp_path / "asked.jsonl", LINES[1:], tmp_path)


def test_quotation_marks_of_a_tsv_are_read_as_it_is_asked(tmp_path):
    path = tmp_path / "asked.tsv"
    path.write_text('text\tid\n"a ""fine"" film"\t1\n')
    for quoted, words in ((True, b'a "fine" film'), (False, b'"a ""fine"" film"')):
        asked = RequestExampleGen(str(path), {"text": "text"}, "1", quoted=quoted)
        examples = run(asked, {}, tmp_path / str(quoted))["examples"]
        (data,) = read_records(f"{examples.uri}/Split-requests/*")
        assert Example.FromString(data).features.feature["text"].bytes_list.value[0] == words
    with pytest.raises(RefusedFileError, match=r"asked\.tsv: line 2.*predictions\.quoted"):
        run(RequestExampleGen(str(path), {"text": "text"}, "1"), {}, tmp_path / "neither")
