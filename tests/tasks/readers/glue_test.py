"""Rows as GLUE's files have them, made up."""

import pytest

from firth.tasks.readers import format_of, read_file
from tests.tasks.readers.written import write

MNLI_COLUMNS = [
    "index",
    "promptID",
    "pairID",
    "genre",
    "sentence1_binary_parse",
    "sentence2_binary_parse",
    "sentence1_parse",
    "sentence2_parse",
    "sentence1",
    "sentence2",
    "label1",
    "label2",
    "label3",
    "label4",
    "label5",
    "gold_label",
]

LINES = {
    "cola": (["gj04\t0\t*\tThe tea drank him."], {"text": "The tea drank him."}, "0", "1"),
    "sst2": (["sentence\tlabel", 'a " quoted film \t1'], {"text": 'a " quoted film '}, "1", "2"),
    "mrpc": (
        ["\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String", '1\t12\t13\tHe " said\t" He said'],
        {"text": 'He " said', "pair": '" He said'},
        "1",
        "2",
    ),
    "stsb": (
        [
            "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore",
            "9\tnews\tMSRpar\t2012\t0001\tnone\tnone\tOne.\tTwo.\t3.800",
        ],
        {"text": "One.", "pair": "Two."},
        3.8,
        "9",
    ),
    "qqp": (
        ["id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate", "133273\t1\t2\tHow?\tWhy?\t0"],
        {"text": "How?", "pair": "Why?"},
        "0",
        "133273",
    ),
    "mnli": (
        ["\t".join(MNLI_COLUMNS), "\t".join(["4", *"bcdefgh", "P.", "H.", *"nnnnn", "neutral"])],
        {"text": "P.", "pair": "H."},
        "neutral",
        "4",
    ),
    "qnli": (
        ["index\tquestion\tsentence\tlabel", "0\tWho?\tHe.\tentailment"],
        {"text": "Who?", "pair": "He."},
        "entailment",
        "0",
    ),
    "wnli": (
        ["index\tsentence1\tsentence2\tlabel", "3\tIt is.\tIt was.\t0"],
        {"text": "It is.", "pair": "It was."},
        "0",
        "3",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_a_row_as_it_is_in_the_file(name, tmp_path):
    lines, texts, label, id_ = LINES[name]
    found = read_file(name, write(tmp_path / "a", lines), "train")
    (record,) = found.records
    assert (record.texts, record.label, record.id, record.line) == (texts, label, id_, len(lines))
    assert found.rejected == []


def test_the_test_file_of_cola_names_its_columns(tmp_path):
    path = write(tmp_path / "a", ["index\tsentence", "0\tBill whistled."])
    (record,) = read_file("cola", path, "test", labelled=False).records
    assert (record.texts, record.label, record.id) == ({"text": "Bill whistled."}, None, "0")


def test_the_order_of_labels_is_that_of_the_benchmarks_code():
    """nyu-mll/GLUE-baselines, src/tasks.py: the numbers in `targ_map`."""
    expected = {
        "mnli": {"neutral": 0, "entailment": 1, "contradiction": 2},
        "rte": {"not_entailment": 0, "entailment": 1},
        "qnli": {"not_entailment": 0, "entailment": 1},
    }
    for name, numbers in expected.items():
        names = format_of(name).labels.names
        assert {label: place for place, label in enumerate(names)} == numbers
