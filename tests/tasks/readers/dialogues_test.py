import json

import pytest

from firth.tasks.labelled.examples import from_example, to_example
from firth.tasks.readers import RefusedFileError, read_columns
from firth.tasks.readers.labels import TurnLabels


def said(*turns):
    return {"messages": [{"role": role, "content": content} for role, content in turns]}


GOOD = said(("system", "Be short."), ("user", "Hi"), ("assistant", "Hello"))
BAD = {
    "no_reply": (said(("user", "Hi")), "no message is of the assistant: there is nothing to learn"),
    "roles_out_of_order": (
        said(("user", "Hi"), ("user", "Hi?"), ("assistant", "Hello")),
        "turn 2 is of the user, and after the user comes the assistant",
    ),
    "unknown_role": (said(("usr", "Hi"), ("assistant", "Hello")), "unknown role 'usr'; did you mean user?"),
    "not_a_list": ({"messages": "Hi"}, "'messages' is 'Hi', not a list of messages"),
    "not_a_message": ({"messages": ["Hi"]}, "message 1 of 'messages' is 'Hi', not an object"),
    "missing_key": (
        {"messages": [{"role": "user", "text": "Hi"}]},
        "message 1 of 'messages' has no 'content'; one of: role, text",
    ),
    "empty_text": (
        said(("user", " "), ("assistant", "Hello")),
        "the content of message 1 of 'messages' is empty",
    ),
    "not_text": (
        said(("user", 7), ("assistant", "Hello")),
        "the content of message 1 of 'messages' is 7, not a text",
    ),
}  # fmt: skip


def read(path, lines, text="messages", label=None):
    path.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines))
    return read_columns(str(path), {"messages": text}, label=label, labels=TurnLabels())


def test_messages_become_a_record_that_comes_back_from_its_example(tmp_path):
    (record,) = read(tmp_path / "chat.jsonl", [GOOD]).records
    assert record.texts == {"messages": ("Be short.", "Hi", "Hello")}
    assert record.label == ("system", "user", "assistant")
    again, source = from_example(to_example(record, "chat"))
    assert (again.texts, again.label, source) == (record.texts, record.label, "chat")


@pytest.mark.parametrize("reason", BAD)
def test_a_bad_line_is_counted_with_file_and_line(tmp_path, reason):
    line, detail = BAD[reason]
    found = read(tmp_path / "chat.jsonl", [GOOD, line])
    (rejected,) = found.rejected
    assert len(found.records) == 1
    assert rejected == (reason, str(tmp_path / "chat.jsonl"), 2, detail)


def test_a_dialogue_that_ends_with_a_question_and_one_that_begins_with_a_reply_are_rejected(tmp_path):
    lines = [
        GOOD,
        said(*[("user", "Hi"), ("assistant", "Hello"), ("user", "?")]),
        said(("assistant", "Hello")),
    ]
    found = read(tmp_path / "chat.jsonl", [*lines, "{"])
    assert [each.detail for each in found.rejected][:2] == [
        "the last turn has no reply",
        "turn 1 is of the assistant, and a dialogue begins with the user",
    ]
    assert found.counts == {"roles_out_of_order": 2, "not_json": 1}


def test_instructions_stand_in_two_columns_of_any_table(tmp_path):
    rows = [("2 + 2?", "4"), ("Say hi.", "")]
    table = "".join(f"{asked},{answered}\n" for asked, answered in [("instruction", "reply"), *rows])
    found = [
        read(tmp_path / "a.csv", [table.strip()], "instruction", "reply"),
        read(tmp_path / "a.jsonl", [{"prompt": a, "completion": b} for a, b in rows], "prompt", "completion"),
    ]
    for each in found:
        (record,) = each.records
        assert record.texts == {"messages": ("2 + 2?", "4")} and record.label == ("user", "assistant")
        assert each.counts == {"empty_text": 1}
    with pytest.raises(RefusedFileError, match=r"'answer' .*line 1; .*: instruction, reply"):
        read(tmp_path / "a.csv", [table.strip()], "instruction", "answer")


def test_what_is_asked_may_be_a_dialogue_itself(tmp_path):
    line = {"prompt": GOOD["messages"][:2], "completion": GOOD["messages"][2:]}
    (record,) = read(tmp_path / "a.jsonl", [line], "prompt", "completion").records
    assert record.label == ("system", "user", "assistant")
