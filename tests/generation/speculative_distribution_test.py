"""Texts that are sampled by guesses have the distribution of the model alone, by a chi-square test."""

import functools
import itertools

import numpy as np
import pytest
import tensorflow as tf

from firth.generation import Prompts, Writer, controls_of, reader_of
from firth.generation.proposals import DraftProposer, LookupProposer
from firth.generation.sampling import filtered, sampled
from firth.generation.speculative import SpeculativeWriter
from firth.recipes.generation.request import GenerationRequest
from tests.models.references import VOCABULARY, build_model

PROMPT, MOST, ROWS = [5, 16, 24, 9, 16], 3, 6_000
# The end, and tokens of which one is in the prompt, so that it is looked up.
TOKENS, END = (25, 16, 24), 25
ALLOWED = np.isin(np.arange(VOCABULARY), TOKENS)
REQUEST = GenerationRequest(max_new_tokens=MOST, sampler={"kind": "sample", "temperature": 1.5, "top_k": 3})


def shares_of(name, begun):
    """The distribution of the token after a text, by reading it whole."""
    reader = reader_of(build_model(name), None, ())
    states, _ = reader.begin(Prompts.of(tf.ragged.constant([[*PROMPT, *begun]], tf.int32), 0), 0)
    logits = tf.where(ALLOWED, reader.logits(states[:, -1]), -np.inf)
    return tf.nn.softmax(filtered(logits, controls_of([REQUEST], None)))[0].numpy()


@functools.cache
def exact(name):
    """The probability of every text."""
    found, begun = {}, {(): 1.0}
    for place in range(MOST):
        texts = {
            (*text, token): share * after[token]
            for text, share in begun.items()
            for after in [shares_of(name, text)]
            for token in TOKENS
        }
        begun = {text: share for text, share in texts.items() if text[-1] != END and place + 1 < MOST}
        found |= {text: share for text, share in texts.items() if text not in begun}
    return found


def chi_square(counts, shares):
    """Returns the statistic and its degrees of freedom; texts expected less than five times count as one."""
    expected = {text: share * ROWS for text, share in shares.items()}
    rare = [text for text, number in expected.items() if number < 5]
    pairs = [(counts.get(text, 0), expected[text]) for text in expected if text not in rare]
    pairs.append((sum(counts.get(text, 0) for text in rare), sum(expected[text] for text in rare)))
    pairs = [(found, number) for found, number in pairs if number > 0]
    return sum((found - number) ** 2 / number for found, number in pairs), len(pairs) - 1


@pytest.mark.parametrize("draft", [None, "llama"])
def test_the_distribution_is_the_models_own(draft):
    """The bound is the statistic's mean and five standard deviations; the draft's texts are far beyond."""
    reader = reader_of(build_model("gpt2"), None, ())
    writer = Writer(reader, END, ALLOWED, sampled)
    proposer = LookupProposer(VOCABULARY, 2, 2)
    if draft:
        proposer = DraftProposer(reader_of(build_model(draft), None, ()), writer, 2)
    speculator = SpeculativeWriter(reader, writer, proposer)
    seeds = tf.stack([tf.range(ROWS), tf.zeros(ROWS, tf.int32)], axis=1)
    controls = controls_of([REQUEST], None).taken(tf.zeros(ROWS, tf.int32))._replace(seeds=seeds)

    prompts = Prompts(tf.tile(tf.constant([PROMPT]), [ROWS, 1]), tf.fill([ROWS], len(PROMPT)), {})
    speculating, _ = speculator.start(prompts, controls, MOST)
    texts = speculator.texts(speculator.go_on(speculating, controls, MOST))
    rows = [tuple(ids[:count]) for ids, count in zip(texts.ids.numpy().tolist(), texts.count.numpy())]
    counts = {text: len([*group]) for text, group in itertools.groupby(sorted(rows))}
    shares = exact("gpt2")
    assert set(counts) <= set(shares) and sum(shares.values()) == pytest.approx(1.0, abs=1e-5)
    statistic, freedom = chi_square(counts, shares)
    bound = freedom + 5 * np.sqrt(2 * freedom)
    assert freedom >= 5 and statistic < bound
    if draft:
        assert chi_square(counts, exact(draft))[0] > 10 * bound
