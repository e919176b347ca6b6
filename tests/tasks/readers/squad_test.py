import json

import pytest
from hypothesis import given, settings, strategies as st

from firth.tasks.readers import RefusedFileError, read_file

CONTEXT = "In 1066 the Norse 𝄞 left Dover."


def question(id_="q1", answers=(("1066", 3),), **more):
    listed = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": id_, "question": "When?", "answers": listed, **more}


def squad(*questions, context=CONTEXT):
    return {"version": "1", "data": [{"title": "T", "paragraphs": [{"context": context, "qas": questions}]}]}


def read(name, content, folder, **options):
    path = folder / "a.json"
    path.write_text(json.dumps(content))
    return read_file(name, str(path), **options)


def test_questions(tmp_path):
    """Places count characters, not bytes or UTF-16 units."""
    found = read("squad", squad(question(), question("q2", [("left", 20), ("left Dover", 20)])), tmp_path)
    assert found.rejected == []
    assert found.records[0].texts == {"question": "When?", "context": CONTEXT}
    assert [(r.id, r.line, r.label) for r in found.records] == [
        ("q1", 1, (("1066", 3),)),
        ("q2", 2, (("left", 20), ("left Dover", 20))),
    ]


@settings(max_examples=30, derandomize=True, deadline=None)
@given(data=st.data())
def test_answers_are_cut_from_the_text_by_their_places(data, tmp_path_factory):
    context = data.draw(st.text("ab é𝄞\n", min_size=2, max_size=12).filter(str.strip))
    start = data.draw(st.integers(0, len(context) - 1))
    text = context[start : data.draw(st.integers(start + 1, len(context)))]
    shift = data.draw(st.integers(-2, 2))
    content = squad(question("good", [(context, 0)]), question("q", [(text, start + shift)]), context=context)
    found = read("squad", content, tmp_path_factory.mktemp("squad"))
    is_there = start + shift >= 0 and context[start + shift :].startswith(text) and bool(text.strip())
    assert (len(found.records) == 2) == is_there
    for record in found.records:
        for answer in record.label:
            assert record.texts["context"][answer.start :].startswith(answer.text)


def test_questions_without_an_answer(tmp_path):
    impossible = question(
        "q2", [], is_impossible=True, plausible_answers=[{"text": "1067", "answer_start": 3}]
    )
    found = read("squad2", squad(question(is_impossible=False), impossible), tmp_path)
    assert [record.label for record in found.records] == [(("1066", 3),), ()]
    assert found.rejected == []


@pytest.mark.parametrize(
    ("name", "bad", "reason", "detail"),
    [
        (
            "squad",
            question("b", [("1066", 4)]),
            "answer_not_at_offset",
            "'1066' is not at 4; there is '066 '",
        ),
        ("squad", question("b", [("1066", -1)]), "answer_not_at_offset", "is not at -1"),
        # Counted from the end it is there.
        ("squad", question("b", [("Dover", -6)]), "answer_not_at_offset", "is not at -6"),
        ("squad", question("b", [("1066", 3), ("Norse", 3)]), "answer_not_at_offset", "'Norse' is not at 3"),
        ("squad", question("b", [("", 3)]), "empty_text", "an answer is empty"),
        ("squad", question("b", [("1066", "3")]), "missing_key", "'answer_start' that is a number"),
        ("squad", question("b", []), "no_label", "not impossible"),
        ("squad2", question("b", []), "no_label", "not impossible"),
        ("squad2", question("b", is_impossible=True), "answer_to_the_impossible", "there is an answer"),
        ("squad", {**question("b"), "question": " "}, "empty_text", "the question is empty"),
        ("squad", question("q1"), "duplicate_id", "line 1 too"),
        ("squad", {"question": "Who?"}, "missing_key", "no 'id'"),
    ],
)
def test_bad_questions_are_counted(name, bad, reason, detail, tmp_path):
    found = read(name, squad(question(), bad), tmp_path)
    assert [(each.reason, each.line) for each in found.rejected] == [(reason, 2)]
    assert detail in found.rejected[0].detail
    assert len(found.records) == 1


def test_without_labels_there_are_none(tmp_path):
    (record,) = read("squad", squad({"id": "q", "question": "Who?"}), tmp_path, labelled=False).records
    assert record.label is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"dta": []}, "no list 'data' where SQuAD has one; did you mean dta"),
        ({"data": [{"title": "T"}]}, "no list 'paragraphs'"),
        ([], "no list 'data'"),
        ({"data": []}, "there are no records"),
    ],
)
def test_other_json_is_refused(content, problem, tmp_path):
    with pytest.raises(RefusedFileError, match=problem):
        read("squad", content, tmp_path)


def test_what_is_not_json_is_refused_with_its_place(tmp_path):
    (tmp_path / "a.json").write_text('{"data": [\n}')
    with pytest.raises(RefusedFileError, match=r"not JSON: .*line 2"):
        read_file("squad", str(tmp_path / "a.json"))
