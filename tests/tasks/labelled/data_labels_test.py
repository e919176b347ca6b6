"""Labelled data with each role of texts and each type of label."""

import json
from typing import ClassVar, Literal

import pytest

from firth.recipes.tasks.data import ColumnData, PublishedData
from firth.recipes.tasks.span import SpanAnswering
from firth.recipes.tasks.tagging import Tagging
from firth.recipes.tasks.task import Task
from firth.tasks.labelled.data import read_labelled_data
from firth.tasks.readers import AnswerSpan
from tests.shared_data import shared_data
from tests.tasks.labelled.files import write


class _Task(Task):
    """A task by the type of its labels and the roles of its texts."""

    reads: ClassVar[tuple[str, ...]] = ()

    @property
    def roles(self):
        return self.reads


class Choosing(_Task):
    label_type: ClassVar[str] = "choice"
    reads: ClassVar[tuple[str, ...]] = ("context", "choices")

    kind: Literal["choosing"] = "choosing"


class Writing(_Task):
    label_type: ClassVar[str] = "text"
    reads: ClassVar[tuple[str, ...]] = ("text",)

    kind: Literal["writing"] = "writing"


ROWS = {
    Choosing: ({"context": "It rained.", "choices": ["She stayed.", "She left."], "label": 1}, 1),
    Tagging: ({"words": ["EU", "rejects"], "label": ["B-ORG", "O"]}, ("B-ORG", "O")),
    SpanAnswering: (
        {"question": "When?", "context": "In 1066.", "label": [{"text": "1066", "answer_start": 3}]},
        (AnswerSpan("1066", 3),),
    ),
    Writing: ({"text": "A long body.", "label": "A summary."}, "A summary."),
}


@pytest.mark.parametrize("kind", ROWS)
def test_columns_of_each_role_and_label(tmp_path, kind):
    row, label = ROWS[kind]
    roles = kind().roles
    other = row | {"label": {Writing: "Another."}.get(kind, row["label"])}
    bad = row | {"label": None}
    path = write(tmp_path, "a.jsonl", *map(json.dumps, (row, other, bad)))
    data = ColumnData(train=path, eval=path, texts={role: role for role in roles})
    found = read_labelled_data(data, kind())
    record = found.splits["train"].records[0]
    assert record.label == label and set(record.texts) == set(roles)
    assert len(found.splits["train"].records) == 2
    assert found.splits["train"].rejected[0].line == 3
    assert found.labels == (("O", "B-ORG") if kind is Tagging else ())
    assert found.report()["splits"]["train"]["kept"] == 2


def test_answers_as_two_lists(tmp_path):
    row = ROWS[SpanAnswering][0] | {"label": {"text": ["1066"], "answer_start": [3]}}
    wrong = [{"text": ["1066"], "answer_start": []}, {"text": ["1066"], "answer_start": [2]}, 1066]
    rows = [row, *(row | {"label": each} for each in wrong), row | {"label": []}]
    path = write(tmp_path, "a.jsonl", *map(json.dumps, rows))
    data = ColumnData(train=path, eval=path, texts={"question": "question", "context": "context"})
    train = read_labelled_data(data, SpanAnswering(unanswerable=True)).splits["train"]
    assert [record.label for record in train.records] == [(AnswerSpan("1066", 3),), ()]
    assert [each.reason for each in train.rejected] == ["missing_key", "answer_not_at_offset", "no_label"]


def test_answers_as_a_list_of_texts(tmp_path):
    row = ROWS[SpanAnswering][0]
    rows = [row | {"label": each} for each in (["1066", {"text": "1066", "answer_start": 3}], ["1067"])]
    path = write(tmp_path, "a.jsonl", *map(json.dumps, rows))
    data = ColumnData(train=path, eval=path, texts={"question": "question", "context": "context"})
    train = read_labelled_data(data, SpanAnswering()).splits["train"]
    assert [record.label for record in train.records] == [(AnswerSpan("1066", 3),) * 2]
    assert [each.reason for each in train.rejected] == ["answer_not_in_context"]


def test_answers_in_the_cells_of_a_table(tmp_path):
    """A text has to be there once; JSON says its place; what is neither is counted."""
    place = '[{""text"": ""In"", ""answer_start"": 0}]'
    cells = ["1066", f'"{place}"', "1067", "e", "[]", ""]
    rows = [f"When?,In 1066 there were none.,{each}" for each in cells]
    path = write(tmp_path, "a.csv", "question,context,label", *rows)
    data = ColumnData(train=path, eval=path, texts={"question": "question", "context": "context"})
    train = read_labelled_data(data, SpanAnswering()).splits["train"]
    assert [record.label for record in train.records] == [(AnswerSpan("1066", 3),), (AnswerSpan("In", 0),)]
    assert [(each.line, each.reason) for each in train.rejected] == [
        (4, "answer_not_in_context"),
        (5, "answer_in_several_places"),
        (6, "no_label"),
        (7, "no_label"),
    ]
    assert "task.unanswerable is false" in train.rejected[2].detail


def test_questions_without_an_answer_have_to_be_wanted(tmp_path):
    made = {"version": "2", "data": [{"title": "T", "paragraphs": [{"context": "In 1066.", "qas": []}]}]}
    asked = made["data"][0]["paragraphs"][0]["qas"]
    asked += [
        {"id": "a", "question": "When?", "answers": [{"text": "1066", "answer_start": 3}]},
        {"id": "b", "question": "Who?", "answers": [], "is_impossible": True},
    ]
    for name in ("train-v2.0.json", "dev-v2.0.json"):
        (tmp_path / name).write_text(json.dumps(made))
    data = PublishedData(format="squad2", folder=str(tmp_path))
    of_all = read_labelled_data(data, SpanAnswering(unanswerable=True)).report()["splits"]["train"]
    assert of_all["labels"] == {"answer": 1, "no answer": 1}
    train = read_labelled_data(data, SpanAnswering()).splits["train"]
    assert [each.line for each in train.rejected] == [2] and len(train.records) == 1


def test_tags_outside_the_set_are_rejected(tmp_path):
    rows = [{"words": ["a", "b"], "label": tags} for tags in (["O", "B-X"], ["O", "B-Y"], ["O"])]
    path = write(tmp_path, "a.jsonl", *map(json.dumps, rows))
    data = ColumnData(train=path, eval=path, texts={"words": "words"})
    train = read_labelled_data(data, Tagging(labels=("O", "B-X"))).report()["splits"]["train"]
    assert train["rejected"] == {"unknown_label": 1, "unequal_words_and_tags": 1}
    assert train["labels"] == {"O": 1, "B-X": 1}


@pytest.mark.repeated
@pytest.mark.needs_data("conll2000", twin="test_tags_outside_the_set_are_rejected")
def test_tagged_words():
    data = PublishedData(format="conll2000", folder=str(shared_data("conll2000")), eval="test")
    found = read_labelled_data(data, Tagging())
    report = found.report()["splits"]
    assert (report["train"]["kept"], report["eval"]["kept"]) == (8936, 2012) and len(found.labels) == 23
    assert sum(report["train"]["labels"].values()) == 211727
