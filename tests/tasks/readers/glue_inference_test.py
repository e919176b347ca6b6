import json

from firth.tasks.readers import read_file
from tests.tasks.readers.written import write


def line(label: str, pair: str) -> str:
    return json.dumps({"gold_label": label, "sentence1": "P", "sentence2": "H", "pairID": pair, "genre": "x"})


def test_pairs_whose_annotators_did_not_agree_are_counted_and_left_out(tmp_path):
    lines = [line("neutral", "1"), line("-", "2"), line("entailment", "3"), line("entailmnet", "4")]
    found = read_file("snli", write(tmp_path / "a.jsonl", lines))
    assert [(record.id, record.label) for record in found.records] == [("1", "neutral"), ("3", "entailment")]
    assert [(each.reason, each.line) for each in found.rejected] == [
        ("no_gold_label", 2),
        ("unknown_label", 4),
    ]
    assert "did you mean entailment?" in found.rejected[1].detail
