"""The score of each token is what the model says of it after those before it, read plainly."""

import numpy as np
import pytest
import tensorflow as tf

from firth.generation import Prompts, last_states
from firth.serving import score_tokens
from firth.serving.score import score, score_target
from firth.serving.served_model import Served
from tests.generation.cases import eagerly, generator_of
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


def plain_logits(generator, row):
    """The logits of the token after each one of a row."""
    reader = PlainReader(generator)
    states, _ = reader.begin(Prompts(tf.constant([row]), tf.constant([len(row)]), {}), 1)
    return reader.logits(states)[0]


def scores_of_ids(served, rows):
    length = [len(each) for each in rows]
    ids = np.zeros([len(rows), max(length, default=0)], np.int32)
    for row, each in zip(ids, rows):
        row[: len(each)] = each
    found = score_tokens.score_tokens(served, tf.constant(ids), tf.constant(length, tf.int32))
    return {name: values.numpy() for name, values in found.items()}


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
        # In one pass: tests of short texts read the row again for each token.
        logits = plain_logits(generator, [*start, *known, *asked]).numpy()[len(start) + len(known) - 1 : -1]
        expected += np.take_along_axis(tf.nn.log_softmax(logits).numpy(), np.c_[asked], 1)[:, 0].tolist()
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


def test_each_token_of_a_row_of_ids_and_the_likeliest_there():
    """The scores are those of `score`. A token that is the likeliest has its value to the last bit."""
    generator = generator_of("causal_lm")
    served, start = served_of(generator), list(generator.framing.before)
    tokens = generator.tokenizer.tokenize(tf.constant(TEXTS)).to_list()
    with eagerly():
        best = generator.generate("the fox", max_new_tokens=6).ids
    rows = [[*start, *each] for each in (*tokens, [*tokens[0][:2], *best])] + [[], start]
    found = scores_of_ids(served, rows)
    expected = score(served, tf.constant(TEXTS))["log_probabilities"].numpy()
    for row, each in enumerate(tokens):
        own = found["log_probabilities"][row]
        np.testing.assert_allclose(own[1 : 1 + len(each)], expected[row, : len(each)], atol=1e-5)
        assert not own[1 + len(each) :].any() and own[0] == 0.0
    own, likeliest, of_likeliest = (found[name][2] for name in score_tokens.SIGNATURE.outputs)
    logs = tf.nn.log_softmax(plain_logits(generator, rows[2])).numpy()
    assert likeliest[1 : len(rows[2])].tolist() == logs.argmax(axis=1)[:-1].tolist()
    is_likeliest = np.array(rows[2][1:]) == likeliest[1 : len(rows[2])]
    assert is_likeliest.any() and not is_likeliest.all()
    assert ((own == of_likeliest)[1 : len(rows[2])] == is_likeliest).all()
    assert not any(values[3:].any() for values in found.values())
    assert {values.shape for values in scores_of_ids(served, []).values()} == {(0, 0)}


@pytest.mark.parametrize(("rows", "named"), [([[0, 99]], "ids: "), ([[1] * 16], "length: .*15")])
def test_rows_of_ids_that_no_model_reads_are_refused(rows, named):
    with pytest.raises(tf.errors.InvalidArgumentError, match=named):
        scores_of_ids(served_of(generator_of("causal_lm")), rows)


@pytest.mark.parametrize("name", ["prefix_lm", "denoising"])
def test_each_token_of_a_target(name):
    generator = generator_of(name)
    given, asked = (generator.tokenizer.tokenize(tf.constant(each)).to_list() for each in (TEXTS, TARGETS))
    framing = generator.framing
    given = [[*framing.before, *each, *framing.after] for each in given]
    found = score_target(served_of(generator), tf.constant(TEXTS), tf.constant(TARGETS))
    check(generator, found, given, asked)
