"""Contrastive search writes the texts of a loop that follows the paper and caches nothing."""

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.generation import Prompts
from firth.recipes.generation.samplers import ContrastiveSearch
from tests.generation.cases import PROMPTS, eagerly, generator_of

ALPHA, COMPARED, MOST = 0.8, 4, 4


def read_whole(generator, prompt, texts):
    """The states of all that the stack that writes reads, for texts of one length; nothing is kept."""
    reader, framing = generator.reader, generator.framing
    together = [prompt.ids if framing.start else (*prompt.ids, *text) for text in texts]
    facts = {}
    if prompt.characters is not None:
        words = generator.tokenizer.characters(tf.constant(generator.tokenizer.get_vocabulary())).numpy()
        rows = [np.concatenate([prompt.characters, words[np.array(text, int)]]) for text in texts]
        facts[names.CHARACTERS] = tf.constant(np.stack(rows))
    if reader.predicts_prompt or not texts[0]:
        return reader.begin(Prompts.of(tf.ragged.constant(together, tf.int32), 0, facts), 0)[0].numpy()
    begun = Prompts.of(tf.ragged.constant([prompt.ids] * len(texts), tf.int32), 0)
    states, rows = reader.begin(begun, len(texts[0]))
    after, _ = reader.read(tf.constant(texts, tf.int32), rows)
    return tf.concat([states, after], axis=1).numpy()


def by_the_paper(generator, prompt):
    """Equation 5: (1 - alpha) p(v | x) - alpha max_j s(h_v, h_j), over the likeliest tokens."""
    written, state = (), read_whole(generator, prompt, [()])[0, -1]
    while len(written) < MOST and generator.framing.end_id not in written:
        logits = np.where(generator.framing.may_write, generator.reader.logits(state).numpy(), -np.inf)
        shares = np.exp(logits - np.logaddexp.reduce(logits))
        tokens = [int(each) for each in np.argsort(-shares, kind="stable")[:COMPARED]]
        whole = read_whole(generator, prompt, [(*written, token) for token in tokens])
        units = whole / np.linalg.norm(whole, axis=2, keepdims=True)
        cosines = [(each[:-1] @ each[-1]).max() for each in units]
        best = int(np.argmax((1 - ALPHA) * shares[tokens] - ALPHA * np.array(cosines)))
        written, state = (*written, tokens[best]), whole[best, -1]
    return written


# `generator_test.py` compares a model of carried states with one that keeps nothing.
@pytest.mark.parametrize("name", ["causal_lm", pytest.param("bidirectional_lm", marks=pytest.mark.repeated)])
@eagerly()
def test_texts_are_those_of_the_papers_loop(name):
    generator = generator_of(name, layers=2)
    sampler = ContrastiveSearch(penalty_alpha=ALPHA, top_k=COMPARED)
    found = generator.generate(PROMPTS[:2], sampler=sampler, max_new_tokens=MOST)
    for prompt, one in zip(generator.framing.read(PROMPTS[:2]), found, strict=True):
        assert one.ids == by_the_paper(generator, prompt)
    likeliest = generator.generate(PROMPTS[:2], max_new_tokens=MOST)
    # The random biLM finds one word far likelier than all others.
    assert name == "bidirectional_lm" or [one.ids for one in found] != [one.ids for one in likeliest]


@pytest.mark.parametrize(
    ("values", "complaint"), [({"penalty_alpha": 1.5}, "penalty_alpha"), ({"top_k": 0}, "top_k")]
)
def test_a_value_out_of_its_range_is_named(values, complaint):
    with pytest.raises(ValueError, match=complaint):
        ContrastiveSearch(**values)
