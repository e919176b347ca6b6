"""Dialogues in JSON are read in a graph as Python reads them, and what is not one is refused."""

import json

import pytest
import tensorflow as tf

from firth.tokenizers.dialogue_json import turns_of_json

HARD = 'a"b\\c\n\t/ \u00e9 \U0001f600 \u2028 {"role":"user","content":"x"} \x00\x01\x02 }, {"role" \\"'
TURNS = [
    ["hi"],
    [HARD, "", HARD],
    ["", "\\", '"'],
]
SYSTEM = ["", HARD, ""]
# Ways in which a client may write the same.
STYLES = {
    "plain": {},
    "utf-8": {"ensure_ascii": False},
    "indented": {"indent": 2},
    "compact": {"separators": (",", ":"), "sort_keys": True},
}


def message(role, content):
    return {"role": role, "content": content}


@pytest.mark.parametrize("style", STYLES)
def test_turns_are_those_of_the_dialogue(style):
    dialogues = [
        [message(("user", "assistant")[number % 2], text) for number, text in enumerate(turns)]
        for turns in TURNS
    ]
    dialogues[1].insert(0, message("system", SYSTEM[1]))
    found = turns_of_json(tf.constant([json.dumps(each, **STYLES[style]) for each in dialogues]))
    assert [[each.decode() for each in turns] for turns in found.messages.to_list()] == TURNS
    assert [each.decode() for each in found.system.numpy()] == SYSTEM


USER = '{"role": "user", "content": "a"}'
REPLY = USER.replace("user", "assistant")
# Ways in which a message is not one.
WRONG = {
    "}": ', "name": "b"}',
    "user": "bot",
    '"a"': "null",
    "a": "\n",
    '"a': '"\\x',
    'a"': '\\ud83d"',
}


@pytest.mark.parametrize(
    "text",
    [
        *("hi", "", "[]", USER, f"[{REPLY}]", f"[{USER}, {REPLY}]", f"[{USER}, {USER}]", f"[{USER}]]"),
        *(f"[{USER.replace(known, wrong)}]" for known, wrong in WRONG.items()),
        f"[{USER}]".encode().replace(b'"a"', b'"\xff"'),
    ],
)
def test_what_is_not_a_dialogue_to_answer_is_refused(text):
    with pytest.raises(tf.errors.InvalidArgumentError):
        turns_of_json(tf.constant([f"[{USER}]", text]))


def test_no_dialogues():
    found = turns_of_json(tf.constant([], tf.string))
    assert (found.messages.to_list(), found.system.shape) == ([], (0,))
