"""The score of each token is what the model says of it after those before it, read plainly."""

import numpy as np
import pytest
import tensorflow as tf

from firth.generation import Prompts, last_states
from firth.serving.score import score, score_target
from firth.serving.served_model import Served
from tests.generation.cases import generator_of
from tests.generation.plain_reader import PlainReader

TEXTS = ["the fox jumps", "a cat"]
TARGETS = ["over the lazy dog", "runs !"]


def plain_scores(generator, given, asked):
    """The log probability of each token after the given ones, by a pass over the whole row for each."""
    reader, scores = PlainReader(generator), []
    states, rows = reader.begin(Prompts(tf.constant([given]), tf.constant([len(given)]), {}), len(asked))
    before = last_states(states, rows)
    for token in asked:
        scores.append(tf.nn.log_softmax(reader.logits(before))[0, token])
        states, rows = reader.read(tf.constant([[token]]), rows)
        before = states[:, 0]
    return np.array(scores)


def served_of(generator):
    return Served(generator.model, generator.tokenizer, generator.recipe)


def check(generator, found, given, asked):
    for row, (before, tokens) in enumerate(zip(given, asked)):
        count = int(found["token_count"][row])
        pieces = [generator.tokenizer.id_to_token(each).encode() for each in tokens]
        assert found["pieces"].numpy()[row, :count].tolist() == pieces
        scores = found["log_probabilities"].numpy()[row]
        np.testing.assert_allclose(scores[:count], plain_scores(generator, before, tokens), atol=1e-4)
        assert not scores[count:].any()
        np.testing.assert_allclose(found["log_probability"][row], scores.sum(), rtol=1e-5)


def test_each_token_of_a_text():
    generator = generator_of("causal_lm")
    asked = generator.tokenizer.tokenize(tf.constant(TEXTS)).to_list()
    start = list(generator.framing.before)
    check(generator, score(served_of(generator), tf.constant(TEXTS)), [start, start], asked)


def test_each_token_of_a_long_text_is_scored_after_a_part_of_the_text_before_it():
    generator = generator_of("causal_lm")
    served, text = served_of(generator), " ".join(TEXTS * 7)
    (tokens,) = generator.tokenizer.tokenize(tf.constant([text])).to_list()
    start = list(generator.framing.before)
    room = served.row_length - len(start)
    found = score(served, tf.constant([TEXTS[1], text]))
    expected, first, shared = [], 0, room // 4
    while len(expected) < len(tokens):
        known = tokens[max(first - shared, 0) : first]
        asked = tokens[first : first + room - len(known)]
        expected += plain_scores(generator, [*start, *known], asked).tolist()
        first += len(asked)
    assert len(tokens) > 2 * room and found["tokens_read"].numpy()[1] == len(tokens)
    np.testing.assert_allclose(found["log_probabilities"][1, : len(tokens)], expected, atol=1e-4)
    np.testing.assert_allclose(found["log_probability"][1], sum(expected), rtol=1e-5)
    check(
        generator,
        score(served, tf.constant(TEXTS[1:])),
        [start],
        generator.tokenizer.tokenize(TEXTS[1:]).to_list(),
    )


@pytest.mark.parametrize("name", ["prefix_lm", "denoising"])
def test_each_token_of_a_target(name):
    generator = generator_of(name)
    given, asked = (generator.tokenizer.tokenize(tf.constant(each)).to_list() for each in (TEXTS, TARGETS))
    framing = generator.framing
    given = [[*framing.before, *each, *framing.after] for each in given]
    found = score_target(served_of(generator), tf.constant(TEXTS), tf.constant(TARGETS))
    check(generator, found, given, asked)
