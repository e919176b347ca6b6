"""Texts that are written by guesses: greedy ones are the same, and what cannot guess is refused."""

import contextlib
import functools

import numpy as np
import pytest

from firth.generation import Generator, SpeculativeGenerator
from firth.generation.eager.generator import EagerGenerator
from firth.recipes.generation.request import GenerationRequest
from tests.generation.cases import CountingReader, eagerly, generator_of

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


HELD = [
    {"regex": "(the|a) (lazy )?dog( runs| jumps)? over the (fox|cat)", "presence_penalty": 2.0},
    {"regex": "(the |fox |dog ){2,9}", "no_repeat_ngram_size": 2},
    {"choices": ["cat", "dog runs"]},
    {"grammar": "start: /(the|a|in)( the| cat| a| dog| fox){2} runs overx/"},
    {"choices": ["the lazy dog jumps over the fox"], "max_new_tokens": 4},
]


@pytest.mark.parametrize(
    ("name", "guesses", "in_graph"),
    [
        ("causal_lm", look_up, True),
        ("denoising", draft, False),
        pytest.param("causal_lm", draft, True, marks=pytest.mark.repeated),
    ],
)
def test_greedy_texts_are_those_of_the_model_alone(name, guesses, in_graph):
    """With penalties that a guess changes for the places after it; prompts of several lengths in a batch.

    With a draft, the text after the last prompt is written once more, held to an expression. The next test
    holds texts that are looked up.
    """
    asked = {
        "max_new_tokens": 7,
        "log_probabilities": True,
        "presence_penalty": 0.3,
        "frequency_penalty": 0.2,
        "repetition_penalty": 1.2,
        "no_repeat_ngram_size": 2,
        "min_new_tokens": 3,
    }
    held = [HELD[1]] if guesses is draft else []
    asked = [GenerationRequest.with_values({**asked, **each}) for each in ({}, {}, {}, *held)]
    prompts = [*PROMPTS, *PROMPTS[-1:] * len(held)]
    with eagerly():
        expected = generator_of(name).generate(prompts, asked)
    with contextlib.nullcontext() if in_graph else eagerly():
        found = guesses(name).generate(prompts, asked)
    for one, plain in zip(found, expected, strict=True):
        # The last places are for guesses.
        assert one.ids == plain.ids[: len(one.ids)]
        assert one.ended == plain.ended or one.ended == "length"
        assert len(one.ids) >= min(5, len(plain.ids))
        np.testing.assert_allclose(one.log_probabilities, plain.log_probabilities[: len(one.ids)], atol=2e-5)


@pytest.mark.parametrize(
    ("name", "guesses", "in_graph"),
    [
        ("denoising", look_up, False),
        pytest.param("causal_lm", draft, True, marks=pytest.mark.repeated),
        pytest.param("causal_lm", look_up, False, marks=pytest.mark.repeated),
        pytest.param("denoising", draft, False, marks=pytest.mark.repeated),
    ],
)
def test_guesses_under_a_constraint_are_kept_or_taken_back(name, guesses, in_graph):
    """Greedy texts are those without guesses, stuck and cut ones too; those of samples are held."""
    values = {"max_new_tokens": 7, "log_probabilities": True}
    prompts = ["the fox", "a", "dogs", "a", "the"]
    requests = [GenerationRequest.with_values({**values, **each}) for each in HELD]
    plain, made = generator_of.__wrapped__(name), guesses(name)
    with eagerly():
        expected = plain.generate(prompts, requests)
    with contextlib.nullcontext() if in_graph else eagerly():
        found = made.generate(prompts, requests)
    for one, other in zip(found, expected, strict=True):
        assert one._replace(log_probabilities=None) == other._replace(log_probabilities=None)
        np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, atol=2e-5)
    assert {each.ended for each in found} == {"end", "length", "stuck"}


@eagerly()
def test_guesses_under_a_constraint_save_readings():
    made = look_up("causal_lm")
    made.reader = CountingReader(made.reader)
    text = "the lazy dog jumps over the fox"
    assert made.generate("the", choices=[text, "cat"], logit_bias={"cat": -9.0}).text == text
    # The first of seven tokens and the end is predicted by the prompt, and a call gives up to three.
    assert made.reader.calls == 3


@eagerly()
def test_a_sampled_text_does_not_depend_on_what_shares_the_batch():
    asked = {"max_new_tokens": 5, "temperature": 0.9, "seed": 3}
    for guesses, held in ((draft, {}), (look_up, {"regex": "(the |fox |dog ){2,9}"})):
        made = guesses("causal_lm")
        found = made.generate(PROMPTS, **asked, **held)[1]
        assert found.ids == made.generate(PROMPTS[1], **asked, **held).ids


def test_what_cannot_guess_is_refused():
    target, words = generator_of("causal_lm"), generator_of("bidirectional_lm")
    for draft, complaint in ((words, "draft"), (other_tokenizer(), "tokenizer")):
        with pytest.raises(ValueError, match=complaint):
            SpeculativeGenerator(target, draft)
    with pytest.raises(ValueError, match="model "):
        SpeculativeGenerator(words)
    eager = EagerGenerator(target.model, target.tokenizer, target.recipe)
    for pair, complaint in (((eager,), "model is a Eager"), ((target, eager), "draft is a Eager")):
        with pytest.raises(ValueError, match=complaint):
            SpeculativeGenerator(*pair)
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
