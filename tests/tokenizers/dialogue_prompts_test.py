"""Prompts of dialogues in a graph are those of `Chat.prompt`."""

import json
import random

import pytest
import tensorflow as tf

from firth.recipes.tokenizers.chat_template import TEMPLATES
from firth.tokenizers.chat import Chat, drop_oldest
from firth.tokenizers.dialogue_prompts import dialogue_prompts, turns_of_json
from tests.repeating import often
from tests.tokenizers.chat_test import byte_pair, sentence_piece, word_piece

TEXTS = ("hi", " hello\n", "a\x00b \x85", "<|im_end|> [SEP]", "\ufdd2", "\u2028 北京 \U0001f600", "bye!")
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


def dialogues():
    chosen = random.Random(4)
    for turns in (1, 3, 5, 5, 1):
        said = [(("user", "assistant")[n % 2], chosen.choice(TEXTS)) for n in range(turns)]
        system = chosen.choice(("", "be short "))
        yield [{"role": who, "content": what} for who, what in [("system", system)] * bool(system) + said]


def asked(chat, messages, room=999):
    system = [each[0]["content"] if each[0]["role"] == "system" else "" for each in messages]
    turns = [[each["content"] for each in of if each["role"] != "system"] for of in messages]
    return dialogue_prompts(chat, tf.ragged.constant(turns, dtype=tf.string), tf.constant(system), room)


@pytest.mark.parametrize("template", often(TEMPLATES, ("chatml", "llama_2")))
def test_a_dialogue_is_read_as_it_is_written(template):
    chat, messages = Chat(byte_pair(template)), list(dialogues())
    found = asked(chat, messages)
    assert found.ids.to_list() == [chat.prompt(each).tolist() for each in messages]
    assert found.given.numpy().tolist() == found.ids.row_lengths().numpy().tolist()


@pytest.mark.parametrize("make", often([word_piece, sentence_piece], [sentence_piece]))
def test_other_tokenizers_read_the_same(make):
    chat, messages = Chat(make()), list(dialogues())
    assert asked(chat, messages).ids.to_list() == [chat.prompt(each).tolist() for each in messages]


def test_a_long_dialogue_loses_its_oldest_exchanges_and_then_the_end_of_its_last_turn():
    chat = Chat(byte_pair())
    long = [{"role": ("user", "assistant")[n % 2], "content": f"word {n} " * 9} for n in range(7)]
    last = [{"role": "user", "content": "a" * 99}]
    # An exchange is left out whole, also where less would do.
    for room in (len(chat.prompt(long[2:])), len(chat.prompt(long)) - 1):
        found = asked(chat, [long, last, long[:1]], room)
        assert found.ids[0].numpy().tolist() == chat.prompt(drop_oldest(long)).tolist()
        assert (found.given > found.ids.row_lengths()).numpy().tolist() == [True, False, False]
    cut = asked(chat, [last], 40)
    assert cut.ids[0].numpy().tolist() == chat.prompts(tf.constant(["a" * 99]), 40).ids[0].numpy().tolist()
    nothing = dialogue_prompts(chat, tf.ragged.constant([[]], dtype=tf.string), tf.constant([""]), 40)
    reply_last = dialogue_prompts(chat, tf.ragged.constant([["hi", "hello"]]), tf.constant([""]), 40)
    assert nothing.ids.to_list() == chat.prompts(tf.constant([""]), 40).ids.to_list()
    assert reply_last.ids.to_list() == chat.prompts(tf.constant(["hi"]), 40).ids.to_list()


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
