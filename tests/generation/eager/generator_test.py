"""The generator of any backend writes the texts of the graphs of TensorFlow, draws included."""

import importlib.util

import keras
import numpy as np
import pytest
import tensorflow as tf

from firth.generation import sampling
from firth.generation.eager.choice import uniforms
from firth.generation.eager.generator import EagerGenerator
from tests.generation.cases import PROMPTS, eagerly, generator_of, request_of
from tests.generation.eager.texts_on_jax import KINDS, texts_of
from tests.repeating import often

# One case of each reader: of one stack, of one that sees its prompts whole, of two stacks, and of words.
CASES = [
    ("causal_lm", "greedy"),
    ("prefix_lm", "sample"),
    ("span_corruption", "greedy"),
    ("denoising", "sample"),
    ("bidirectional_lm", "greedy"),
    ("bidirectional_lm", "sample"),
]
# `tests/language_model/model_features_test.py` has two stacks.
OFTEN = [("causal_lm", "greedy"), ("prefix_lm", "sample"), ("bidirectional_lm", "greedy")]


def eager_generator_of(name) -> EagerGenerator:
    graph = generator_of(name)
    return EagerGenerator(graph.model, graph.tokenizer, graph.recipe)


@pytest.mark.parametrize(("name", "kind"), often(CASES, OFTEN))
@eagerly()
def test_it_writes_as_the_graphs_do(name, kind):
    graph = generator_of(name)
    # Three rows become four, of which the last one is nobody's.
    more = {
        "prompt_log_probabilities": graph.predicts_prompt,
        "logit_bias": {"fox": 0.5},
        "repetition_penalty": 1.3,
    }
    requests = [request_of(kind, number).with_changes(more) for number in range(len(PROMPTS))]
    expected = graph.generate(PROMPTS, requests)
    for one, other in zip(eager_generator_of(name).generate(PROMPTS, requests), expected, strict=True):
        assert (one.text, one.ids, one.ended) == (other.text, other.ids, other.ended)
        np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, atol=2e-5)
        if graph.predicts_prompt:
            found, known = one.prompt_log_probabilities, other.prompt_log_probabilities
            assert found[0] is known[0] is None
            np.testing.assert_allclose(found[1:], known[1:], atol=2e-5)


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
def test_jax_writes_as_the_graphs_do(tmp_path):
    requests = [request_of(kind, number) for number, kind in enumerate(KINDS)]
    with eagerly():
        expected = generator_of("causal_lm").generate(PROMPTS, requests)
    for (text, ids, scores), known in zip(texts_of("causal_lm", tmp_path), expected, strict=True):
        assert (text, tuple(ids)) == (known.text, known.ids)
        np.testing.assert_allclose(scores, known.log_probabilities, atol=2e-5)


@eagerly()
def test_a_full_row_stops_and_streams():
    graph, eager = generator_of("causal_lm"), eager_generator_of("causal_lm")
    drawn = {"temperature": 2.0, "seed": 3, "min_new_tokens": 9}
    whole = eager.generate("the fox", max_new_tokens=100, **drawn)
    assert whole == graph.generate("the fox", max_new_tokens=100, **drawn)
    assert whole.ended == "length" and len(whole.ids) < 100
    # A word that is not among those before it.
    words = whole.text.split()
    stop = next(
        each for number, each in enumerate(words) if number > 2 and each not in "".join(words[:number])
    )
    stopped = eager.generate("the fox", stop=stop, **drawn)
    assert stopped == graph.generate("the fox", stop=stop, **drawn) and stopped.ended == "stop"
    stream = eager.stream("the fox", stop=stop, **drawn)
    assert len(pieces := [*stream]) > 1 and "".join(pieces) == stream.result.text == stopped.text


@pytest.mark.repeated
@eagerly()
def test_requests_of_both_samplers_in_one_call():
    eager = eager_generator_of("causal_lm")
    requests = [request_of(kind, number) for number, kind in enumerate(("sample", "greedy", "sample"))]
    together = [each.ids for each in eager.generate(PROMPTS, requests)]
    assert together == [eager.generate(*each).ids for each in zip(PROMPTS, requests)]


@pytest.mark.parametrize(
    ("values", "named"),
    [({"beams": 2}, "beam"), ({"penalty_alpha": 0.5}, "contrastive"), ({"choices": ["a", "b"]}, "choices")],
)
def test_what_needs_a_graph_is_refused_by_name(values, named):
    with pytest.raises(
        ValueError, match=rf"{named} is not available where Keras runs on {keras.backend.backend()}"
    ):
        eager_generator_of("causal_lm").generate("the fox", **values)


def test_the_numbers_that_are_drawn_are_those_of_the_graphs():
    seeds = np.random.default_rng(2).integers(-(2**31), 2**31, (50, 2)).astype(np.int32)
    for step in (0, 1, 7, 1_000_000):
        expected = sampling.uniforms(tf.constant(seeds), tf.fill([50], step)).numpy()
        np.testing.assert_array_equal(uniforms(seeds, step), expected)
