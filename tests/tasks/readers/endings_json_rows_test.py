"""Rows of files that are JSON as a whole."""

import pytest

from firth.tasks.readers.endings import JsonRows
from firth.tasks.readers.records import RefusedFileError
from tests.tasks.readers.rejections import rejection

ARTICLE = """{"data": [{"paragraphs": [{"context": "In 1066.", "qas": [
  {"id": "a", "question": "When?", "answers": [{"text": "1066", "answer_start": 3}]},
  {"id": "b", "question": "Who?", "answers": [], "is_impossible": true},
  {"id": "c", "question": "Why?", "answers": [{"text": "In"}], "is_impossible": true},
  {"question": "Where?"},
  5
]}]}]}"""


def rows_of(text):
    return JsonRows("a.json", text.splitlines(keepends=True))


def test_a_list_of_objects():
    rows = rows_of('[{"text": "a",\n  "by": {"name": "b"}}, {"text": "c"}, "d"]')
    assert rows.columns is None and rows.id_column == ""
    (first, one), (second, other), (third, text) = rows
    assert (first, second, third) == (1, 2, 3)
    assert rows.values(one) == {"text": "a", "by": {"name": "b"}, "by.name": "b"}
    assert rows.values(other) == {"text": "c"}
    assert rejection(rows, text) == "not_json"


def test_questions_on_paragraphs():
    rows = rows_of(ARTICLE)
    assert rows.columns == ["id", "question", "context", "answers"] and rows.id_column == "id"
    numbered = dict(rows)
    answers = [{"text": "1066", "answer_start": 3}]
    expected = {"id": "a", "question": "When?", "context": "In 1066.", "answers": answers}
    assert rows.values(numbered[1]) == expected
    assert rows.values(numbered[2])["answers"] == [], "without an answer, as it says"
    assert rejection(rows, numbered[3]) == "answer_to_the_impossible"
    unanswered = {"id": None, "question": "Where?", "context": "In 1066.", "answers": None}
    assert rows.values(numbered[4]) == unanswered
    assert rejection(rows, numbered[5]) == "not_json"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"text": "a"', "a.json: not JSON: "),
        ("5", "there is no list 'data' where SQuAD has one"),
        ('{"date": []}', "there is no list 'data' where SQuAD has one; did you mean date"),
        ('{"data": [{"paragraphs": [{"context": "a"}]}]}', "there is no list 'qas'"),
    ],
)
def test_what_is_neither_is_refused(text, said):
    with pytest.raises(RefusedFileError, match=said):
        list(rows_of(text))
