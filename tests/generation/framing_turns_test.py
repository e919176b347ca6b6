"""Replies of a model that learned dialogues, by messages."""

import pytest
import tensorflow as tf

from firth.generation import Generator
from firth.serving.signatures import text_signatures
from tests.generation.cases import eagerly, generator_of
from tests.tasks.dialogue_test import served

SAID = [
    {"role": "system", "content": "a word"},
    {"role": "user", "content": "the cat"},
    {"role": "assistant", "content": "sat on mat"},
    {"role": "user", "content": "you know [SEP]"},
]


def generator(**options) -> Generator:
    made = served(**options)
    return Generator(made.model, made.tokenizer, made.recipe)


@eagerly()
def test_one_turn_is_answered_as_the_served_model_answers_it():
    made = served()
    answers = text_signatures(made.recipe)["reply"].function(made, tf.constant(["the cat", "you [SEP]"]))
    replies = generator().generate(["the cat", "you [SEP]"], max_new_tokens=6)
    assert [each.text for each in replies] == [each.decode() for each in answers["reply"].numpy()]


@eagerly()
def test_a_dialogue_is_read_as_the_template_writes_it():
    reply = generator().reply(SAID, max_new_tokens=6)
    before = "[CLS] a word user : the cat assistant : sat on mat [SEP]"
    expected = f"{before} user : you know [UNK] [UNK] [UNK] assistant :"
    assert " ".join(reply.prompt_tokens) == expected
    assert reply.ended in ("end", "length") and len(reply.ids) <= 6
    pieces = list(generator().stream(SAID, max_new_tokens=6))
    assert "".join(pieces) == reply.text


@eagerly()
def test_the_oldest_turns_of_a_dialogue_that_is_too_long_are_left_out():
    reply = generator(length=20).reply(SAID, max_new_tokens=2)
    assert " ".join(reply.prompt_tokens) == "[CLS] a word user : you know [UNK] [UNK] [UNK] assistant :"
    with pytest.raises(ValueError, match=r"prompt 0: .*the 3 "):
        generator(length=9).reply(SAID)


def test_bad_messages_are_refused():
    made = generator()
    for messages, named in [
        (SAID[:3], "last .*reply"),
        (SAID[2:], "turn 1 .*assistant"),
        ([], "no turns"),
        ([{"role": "bot", "content": "hi"}], "turn 1 .*bot"),
        ([{"role": "user", "content": b"\xff"}], "prompt 0: .*UTF-8 from place 0"),
    ]:
        with pytest.raises(ValueError, match=named):
            made.reply(messages)
    with pytest.raises(ValueError, match="dialogues"):
        generator_of("causal_lm").reply(SAID)
