import json

import pytest

from firth.tasks.readers import RefusedFileError, read_file
from tests.tasks.readers.written import write

MULTIRC = {
    "idx": 3,
    "passage": {
        "text": "Ann left. Bo stayed.",
        "questions": [
            {
                "question": "Who left?",
                "answers": [{"text": "Ann", "idx": 7, "label": 1}, {"text": "Bo", "idx": 8, "label": 0}],
                "idx": 5,
            }
        ],
    },
}
RECORD = {
    "idx": 0,
    "source": "Daily mail",
    "passage": {
        "text": "Ann met Bo in Rome. Ann left.",
        "entities": [
            {"start": 0, "end": 2},
            {"start": 8, "end": 9},
            {"start": 14, "end": 17},
            {"start": 20, "end": 22},
        ],
    },
    "qas": [
        {
            "query": "@placeholder went away",
            "answers": [{"start": 0, "end": 2, "text": "Ann"}, {"start": 20, "end": 22, "text": "Ann"}],
            "idx": 4,
        }
    ],
}

LINES = {
    "boolq": (
        {"question": "is it", "passage": "It is.", "idx": 1, "label": True},
        [("1", {"question": "is it", "context": "It is."}, "true")],
    ),
    "cb": (
        {"premise": "P", "hypothesis": "H", "label": "contradiction", "idx": 2},
        [("2", {"text": "P", "pair": "H"}, "contradiction")],
    ),
    "copa": (
        {"premise": "P", "choice1": "A", "choice2": "B", "question": "cause", "label": 1, "idx": 0},
        [("0", {"context": "P", "question": "cause", "choices": ("A", "B")}, 1)],
    ),
    "multirc": (
        MULTIRC,
        [
            ("3-5-7", {"context": "Ann left. Bo stayed.", "question": "Who left?", "answer": "Ann"}, "1"),
            ("3-5-8", {"context": "Ann left. Bo stayed.", "question": "Who left?", "answer": "Bo"}, "0"),
        ],
    ),
    "record": (
        RECORD,
        [
            (
                "0-4",
                {
                    "context": "Ann met Bo in Rome. Ann left.",
                    "question": "@placeholder went away",
                    "choices": ("Ann", "Bo", "Rome"),
                },
                ("Ann",),
            )
        ],
    ),
    "superglue_rte": (
        {"premise": "P", "hypothesis": "H", "label": "not_entailment", "idx": 2},
        [("2", {"text": "P", "pair": "H"}, "not_entailment")],
    ),
    "wic": (
        {
            "word": "bank",
            "sentence1": "A bank.",
            "sentence2": "The bank.",
            "idx": 5,
            "label": False,
            "start1": 2,
        },
        [("5", {"text": "A bank.", "pair": "The bank.", "question": "bank"}, "false")],
    ),
    "wsc": (
        {
            "text": "Ann saw her.",
            "target": {"span1_index": 0, "span1_text": "Ann", "span2_index": 2, "span2_text": "her"},
            "idx": 0,
            "label": False,
        },
        [("0", {"text": "Ann saw her.", "pair": "Ann", "question": "her"}, "false")],
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_as_it_is_in_the_file(name, tmp_path):
    line, expected = LINES[name]
    found = read_file(name, write(tmp_path / "a", [json.dumps(line)]))
    assert [(record.id, record.texts, record.label) for record in found.records] == expected
    assert found.rejected == []


@pytest.mark.parametrize("name", LINES)
def test_a_line_without_labels(name, tmp_path):
    line, expected = LINES[name]
    without = json.dumps(line).replace('"label"', '"other"')
    found = read_file(name, write(tmp_path / "a", [without]), labelled=False)
    assert [(record.texts, record.label) for record in found.records] == [
        (texts, None) for _, texts, _ in expected
    ]


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("multirc", {**MULTIRC, "passage": {"text": "T"}}, "missing_key"),
        ("multirc", {**MULTIRC, "passage": "T"}, "missing_key"),
        ("record", {**RECORD, "qas": [{"query": "q", "answers": [], "idx": 4}]}, "no_label"),
        ("record", {**RECORD, "qas": ["q"]}, "missing_key"),
        ("record", {**RECORD, "passage": {"text": "T", "entities": []}}, "empty_text"),
        ("copa", {**LINES["copa"][0], "label": 2}, "unknown_label"),
        ("boolq", {**LINES["boolq"][0], "label": None}, "no_label"),
        ("boolq", {**LINES["boolq"][0], "passage": 5}, "not_text"),
        ("wsc", {**LINES["wsc"][0], "target": {"span1_text": "Ann"}}, "missing_key"),
    ],
)
def test_bad_lines_are_counted(name, line, reason, tmp_path):
    good = LINES[name][0] | ({"idx": 99} if name != "record" else {"idx": 98})
    found = read_file(name, write(tmp_path / "a", [json.dumps(line), json.dumps(good)]))
    assert [(each.reason, each.line) for each in found.rejected] == [(reason, 1)]
    with pytest.raises(RefusedFileError, match=r"1 records .*:1: "):
        read_file(name, write(tmp_path / "b", [json.dumps(line)]))


def test_a_bad_part_does_not_drop_the_others(tmp_path):
    question = MULTIRC["passage"]["questions"][0]
    answers = [{"text": text, "idx": place, "label": 1} for place, text in enumerate(("Ann", "", "Bo"))]
    questions = [{**question, "answers": answers}, {"question": "Who?"}, "q", {**question, "idx": 9}]
    line = {**MULTIRC, "passage": {"text": "T", "questions": questions}}
    found = read_file("multirc", write(tmp_path / "a", [json.dumps(line)]))
    assert [record.id for record in found.records] == ["3-5-0", "3-5-2", "3-9-7", "3-9-8"]
    assert [each.reason for each in found.rejected] == ["empty_text", "missing_key", "missing_key"]
    query = RECORD["qas"][0]
    line = {**RECORD, "qas": [{**query, "answers": []}, "q", query]}
    found = read_file("record", write(tmp_path / "b", [json.dumps(line)]))
    assert [record.id for record in found.records] == ["0-4"]
    assert [each.reason for each in found.rejected] == ["no_label", "missing_key"]


def test_two_answers_of_one_place_are_told_apart_or_counted(tmp_path):
    question = MULTIRC["passage"]["questions"][0]
    twice = {**question, "answers": [question["answers"][0]] * 2}
    line = {**MULTIRC, "passage": {"text": "T", "questions": [twice]}}
    found = read_file("multirc", write(tmp_path / "a", [json.dumps(line)]))
    assert (len(found.records), found.counts) == (1, {"duplicate_id": 1})
