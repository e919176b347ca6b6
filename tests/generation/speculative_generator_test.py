"""Texts that are written by guesses: greedy ones are the same, and what cannot guess is refused."""

import contextlib
import functools

import numpy as np
import pytest

from firth.generation import Generator, SpeculativeGenerator
from tests.generation.cases import eagerly, generator_of

PROMPTS = ["the fox the fox", "a cat jumps over the dog", "dogs"]


@functools.cache
def draft_of(name):
    """A model much like the larger one, so that some of its guesses are kept and some are not."""
    draft = generator_of.__wrapped__(name)
    random = np.random.default_rng(11)
    for weight in draft.model.trainable_variables:
        weight.assign_add(random.normal(0, 0.1, weight.shape).astype("float32"))
    return draft


def draft(name):
    return SpeculativeGenerator(generator_of(name), draft_of(name), tokens=3)


def look_up(name):
    return SpeculativeGenerator(generator_of(name), tokens=2)


@pytest.mark.parametrize(
    ("name", "guesses", "in_graph"),
    [("causal_lm", draft, True), ("causal_lm", look_up, False), ("denoising", draft, False)],
)
def test_greedy_texts_are_those_of_the_model_alone(name, guesses, in_graph):
    """With penalties that a guess changes for the places after it; prompts of several lengths in a batch."""
    asked = {
        "max_new_tokens": 7,
        "log_probabilities": True,
        "presence_penalty": 0.3,
        "frequency_penalty": 0.2,
        "repetition_penalty": 1.2,
        "no_repeat_ngram_size": 2,
        "min_new_tokens": 3,
    }
    with eagerly():
        expected = generator_of(name).generate(PROMPTS, **asked)
    with contextlib.nullcontext() if in_graph else eagerly():
        found = guesses(name).generate(PROMPTS, **asked)
    for one, plain in zip(found, expected, strict=True):
        # The last places are for guesses.
        assert one.ids == plain.ids[: len(one.ids)]
        assert one.ended == plain.ended or one.ended == "length"
        assert len(one.ids) >= min(5, len(plain.ids))
        np.testing.assert_allclose(one.log_probabilities, plain.log_probabilities[: len(one.ids)], atol=2e-5)


@eagerly()
def test_a_sampled_text_does_not_depend_on_what_shares_the_batch():
    made = draft("causal_lm")
    asked = {"max_new_tokens": 5, "temperature": 0.9, "seed": 3}
    assert made.generate(PROMPTS, **asked)[1].ids == made.generate(PROMPTS[1], **asked).ids


def test_what_cannot_guess_is_refused():
    target, words = generator_of("causal_lm"), generator_of("bidirectional_lm")
    for draft, complaint in ((words, "draft"), (other_tokenizer(), "tokenizer")):
        with pytest.raises(ValueError, match=complaint):
            SpeculativeGenerator(target, draft)
    with pytest.raises(ValueError, match="model "):
        SpeculativeGenerator(words)
    with pytest.raises(ValueError, match=r"tokens .*1, is 0"):
        SpeculativeGenerator(target, tokens=0)
    with pytest.raises(ValueError, match="sampler beam"):
        SpeculativeGenerator(target).generate("the fox", sampler={"kind": "beam"})
    with pytest.raises(ValueError, match=r"prompt 0: .*no place"):
        SpeculativeGenerator(target, tokens=12).generate("the fox jumps")


def other_tokenizer():
    target = generator_of("causal_lm")
    pieces = [*target.tokenizer.get_vocabulary()]
    pieces[5:7] = reversed(pieces[5:7])
    return Generator(target.model, type(target.tokenizer)(pieces), target.recipe)
