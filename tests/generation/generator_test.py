"""A generator writes the same as a loop without a cache, for every reader and every sampler."""

import contextlib
import itertools

import numpy as np
import pytest
import tensorflow as tf

from firth.generation import SAMPLERS, Generator, generate
from firth.generation.controls import neutral_controls
from firth.generation.penalties import Seen, adjusted, tokens_of
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.generation.samplers import AnySampler
from tests.generation.cases import PROMPTS, WRITING, eagerly, generator_of, request_of
from tests.generation.plain_reader import PlainReader
from tests.repeating import often

# Every sampler with each reader: of one stack, of two, and of carried states. Families of one reader
# differ in their positions and their outputs.
CASES = {
    "causal_lm": ("greedy", "contrastive"),
    "causal_lm, table of its own": ("beam",),
    "prefix_lm": ("sample",),
    "span_corruption": ("beam",),
    "iid_denoising": ("contrastive",),
    "denoising": ("sample",),
    "bidirectional_lm": ("greedy", "sample", "beam", "contrastive"),
}
# These run in a graph, in which each layer is traced, the others op by op: `beams/beam_search_test.py` has an
# encoder in a graph, and the export of `tests/serving/slots/models.py` has draws.
IN_GRAPH = {("causal_lm", "greedy"), ("bidirectional_lm", "greedy")}


def plain(name) -> Generator:
    """The same model, which keeps nothing between tokens."""
    generator = generator_of(name)
    made = Generator(generator.model, generator.tokenizer, generator.recipe)
    made.reader = PlainReader(generator)
    return made


def test_the_table_has_every_kind():
    assert {kind for each in configs_in(AnySampler) for kind in kinds_of(each)} == set(SAMPLERS)
    assert set(CASES) <= set(WRITING) and {*itertools.chain(*CASES.values())} == set(SAMPLERS)


# Each sampler, and readers of one stack, of two, and of carried states.
OFTEN = [
    ("causal_lm", "greedy"),
    ("prefix_lm", "sample"),
    ("span_corruption", "beam"),
    ("bidirectional_lm", "contrastive"),
]


@pytest.mark.parametrize(
    ("name", "kind"), often([(name, kind) for name in CASES for kind in CASES[name]], OFTEN)
)
def test_a_cache_changes_nothing(name, kind):
    """Prompts of several lengths share a batch, each with a request of its own.

    Caches of several layers are in `beams/beam_search_test.py` and the tests of backbones.
    """
    requests = [request_of(kind, number) for number in range(len(PROMPTS))]
    with contextlib.nullcontext() if (name, kind) in IN_GRAPH else eagerly():
        found = generator_of(name).generate(PROMPTS, requests)
    with eagerly():
        expected = plain(name).generate(PROMPTS, requests)
    for one, other in zip(found, expected, strict=True):
        assert (one.text, one.ids, one.ended) == (other.text, other.ids, other.ended)
        np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, atol=2e-5)


def check_alone(generator, kind, numbers):
    """Compares with texts of a batch; top logits of these models are far enough apart."""
    requests = [request_of(kind, number) for number in range(len(PROMPTS))]
    together = generator.generate(PROMPTS, requests)
    for number in numbers:
        alone = generator.generate(PROMPTS[number], requests[number])
        assert alone.ids == together[number].ids and alone.ended == together[number].ended


@pytest.mark.repeated
def test_a_row_alone_gets_the_same_text_in_its_graph():
    check_alone(generator_of("causal_lm"), "greedy", [1])


@pytest.mark.parametrize(
    ("name", "kind"), often([("prefix_lm", "beam"), ("bidirectional_lm", "sample")], [("prefix_lm", "beam")])
)
@eagerly()
def test_a_row_alone_gets_the_same_text(name, kind):
    check_alone(generator_of(name, layers=2), kind, [1, 2])


def test_one_graph_serves_all_prompts_of_a_bucket():
    generator = generator_of("causal_lm")
    # Three to eight tokens with their special ones.
    for prompts in (["the fox jumps", "a cat"], ["the lazy dog", "a", "the fox jumps over the dog"]):
        generator.generate(prompts, max_new_tokens=6)
    traces = [
        graph._compiled.experimental_get_tracing_count()
        for _, *graphs in generator._made.values()
        for graph in graphs
        if graph._compiled is not None
    ]
    # Those that ran op by op have no trace.
    assert set(traces) - {0} == {1}


@eagerly()
def test_seeds_tell_texts_apart_and_repeat_them():
    generator = generator_of("causal_lm")
    asked = [GenerationRequest.with_values({"temperature": 2.0, "seed": seed}) for seed in (1, 2, 1, 2**62)]
    one, two, again, large = (each.ids for each in generator.generate(["the fox"] * 4, asked))
    assert one == again and len({one, two, large}) == 3


@eagerly()
def test_penalties_and_biases():
    generator = generator_of("causal_lm", layers=2)
    values = [{}, {"presence_penalty": 1e4}, {"logit_bias": {"cat": 1e4}}, {"repetition_penalty": 1e4}]
    asked = [GenerationRequest.with_values({"max_new_tokens": 6, **each}) for each in values]
    plain_text, once, biased, never = generator.generate(["the fox"] * 4, asked)
    assert len(set(plain_text.ids)) < 6
    assert len(set(once.ids)) == 6
    assert biased.text == " cat" * 6
    assert not {generator.tokenizer.token_to_id(word) for word in ("the", "fox")} & set(never.ids)


def test_a_frequency_penalty_counts_what_has_been_written():
    """Neither the prompt nor what is after the text counts; each row has its own penalty."""
    tokens = tf.constant([[1, 1, 2, 2, 0, 3], [1, 1, 2, 2, 0, 3]])
    known = tokens_of(tokens, tf.constant([5, 5]), 4)
    seen = Seen(known, known, tokens, count=tf.constant([5, 4]), new=tf.constant([4, 2]))
    controls = neutral_controls(2, 1)._replace(frequency_penalty=tf.constant([0.5, -1.0]))
    found = adjusted(tf.zeros([2, 4]), controls, seen, end_id=3)
    assert found.numpy().tolist() == [[-0.5, -0.5, -1.0, 0.0], [0.0, 0.0, 2.0, 0.0]]


@eagerly()
def test_runs_that_come_once_and_a_text_that_is_not_too_short():
    """Also where nothing else may come: then the text ends."""
    generator = generator_of("causal_lm")
    end = generator.tokenizer.id_to_token(generator.framing.end_id)
    short = {"logit_bias": {end: 1e4}, "max_new_tokens": 6}
    values = [short, {**short, "min_new_tokens": 4}]
    values += [{"max_new_tokens": 10, "no_repeat_ngram_size": size} for size in (1, 2)]
    asked = [GenerationRequest.with_values(each) for each in values]
    at_once, later, single, pairs = generator.generate(["the fox"] * 4, asked)
    assert (at_once.ended, len(at_once.ids)) == ("end", 1)
    assert (later.ended, len(later.ids)) == ("end", 5)
    prompt = [generator.tokenizer.token_to_id(word) for word in ("the", "fox")]
    assert len({*prompt, *single.ids}) == 2 + len(single.ids)
    whole = [*prompt, *pairs.ids]
    assert len(set(itertools.pairwise(whole))) == len(whole) - 1
    allowed = {generator.tokenizer.id_to_token(each) for each in single.ids[:1]}
    biases = {word: -1e4 for word in generator.tokenizer.get_vocabulary() if word not in allowed}
    lonely = generator.generate("the fox", logit_bias=biases, no_repeat_ngram_size=1, min_new_tokens=6)
    assert lonely.ended in ("end", "length")
    with pytest.raises(ValueError, match=r"min_new_tokens is 9, .*max_new_tokens, 4"):
        GenerationRequest(min_new_tokens=9, max_new_tokens=4)


@eagerly()
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


@eagerly()
def test_a_model_in_hand_writes_too():
    assert generate(generator_of("causal_lm"), ["the fox"], max_new_tokens=6)[0].ended == "length"
    assert generate(generator_of("causal_lm"), []) == []
