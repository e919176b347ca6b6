"""What a generator writes equals what a loop without a cache writes, for every family and every sampler."""

import numpy as np
import pytest
import tensorflow as tf

from firth.generation import SAMPLERS, Generator, generate
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.generation.samplers import AnySampler
from tests.generation.cases import PROMPTS, WRITING, generator_of, request_of
from tests.generation.plain_reader import PlainReader

# One of each reader, and one of each sampler; what is left repeats them.
CHOSEN = {
    ("causal_lm", "greedy"),
    ("denoising", "sample"),
    ("prefix_lm", "sample"),
    ("bidirectional_lm", "sample"),
}


def cases(chosen):
    """All families and samplers, of which those that are not chosen are repeats."""
    every = [(name, kind) for name in WRITING for kind in SAMPLERS]
    marked = [each if each in chosen else pytest.param(*each, marks=pytest.mark.repeated) for each in every]
    return pytest.mark.parametrize(("name", "kind"), marked)


def plain(name) -> Generator:
    """The same model, which keeps nothing between tokens."""
    generator = generator_of(name)
    made = Generator(generator.model, generator.tokenizer, generator.recipe)
    made.reader = PlainReader(generator)
    return made


def test_the_table_has_every_kind():
    assert {kind for each in configs_in(AnySampler) for kind in kinds_of(each)} == set(SAMPLERS)


@cases(CHOSEN)
def test_a_cache_changes_nothing(name, kind):
    """Prompts of several lengths share a batch, each with a request of its own."""
    requests = [request_of(kind, number) for number in range(len(PROMPTS))]
    found = generator_of(name).generate(PROMPTS, requests)
    tf.config.run_functions_eagerly(True)
    try:
        expected = plain(name).generate(PROMPTS, requests)
    finally:
        tf.config.run_functions_eagerly(False)
    for one, other in zip(found, expected, strict=True):
        assert (one.text, one.ids, one.ended) == (other.text, other.ids, other.ended)
        np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, atol=2e-5)


@cases({("causal_lm", "sample")})
def test_a_row_alone_gets_the_same_text(name, kind):
    """Whatever shares the batch; top logits of these models are far enough apart."""
    requests = [request_of(kind, number) for number in range(len(PROMPTS))]
    together = generator_of(name).generate(PROMPTS, requests)
    for number in (1, 2):
        alone = generator_of(name).generate(PROMPTS[number], requests[number])
        assert alone.ids == together[number].ids and alone.ended == together[number].ended


def test_one_graph_serves_all_prompts_of_a_bucket():
    generator = generator_of("causal_lm")
    # Three to eight tokens with their special ones.
    for prompts in (["the fox", "a cat"], ["the lazy dog", "a", "the fox jumps over the dog"]):
        generator.generate(prompts, max_new_tokens=6)
    traces = [
        graph._compiled.experimental_get_tracing_count()
        for key, (_, *graphs) in generator._made.items()
        for graph in graphs
        if graph._compiled is not None
    ]
    assert set(traces) == {1}


def test_seeds_tell_texts_apart_and_repeat_them():
    generator = generator_of("causal_lm")
    asked = [GenerationRequest.with_values({"temperature": 2.0, "seed": seed}) for seed in (1, 2, 1, 2**62)]
    one, two, again, large = (each.ids for each in generator.generate(["the fox"] * 4, asked))
    assert one == again and len({one, two, large}) == 3


def test_penalties_and_biases():
    generator = generator_of("causal_lm")
    plain_text = generator.generate("the fox", max_new_tokens=6)
    assert len(set(plain_text.ids)) < 6
    once = generator.generate("the fox", max_new_tokens=6, presence_penalty=1e4)
    assert len(set(once.ids)) == 6
    biased = generator.generate("the fox", max_new_tokens=6, logit_bias={"cat": 1e4})
    assert biased.text == " cat" * 6
    never = generator.generate("the fox", max_new_tokens=6, repetition_penalty=1e4)
    assert not {generator.tokenizer.token_to_id(word) for word in ("the", "fox")} & set(never.ids)


def test_probabilities_of_a_prompt():
    generator = generator_of("causal_lm")
    prompts = ["the fox jumps over", "a"]
    found = generator.generate(prompts, max_new_tokens=1, prompt_log_probabilities=True)
    for prompt, one in zip(generator.framing.read(prompts), found, strict=True):
        states = PlainReader(generator)
        hidden, _ = states.begin(generator.framing.batch([prompt]), 1)
        logs = tf.nn.log_softmax(states.logits(hidden))[0].numpy()
        expected = [logs[place, token] for place, token in enumerate(prompt.ids[1:])]
        assert one.prompt_log_probabilities[0] is None
        np.testing.assert_allclose(one.prompt_log_probabilities[1:], expected, atol=2e-5)
        assert len(one.prompt_tokens) == len(prompt.ids)


def test_a_model_in_hand_writes_too():
    assert generate(generator_of("causal_lm"), ["the fox"], max_new_tokens=6)[0].ended == "length"
    assert generate(generator_of("causal_lm"), []) == []
