"""Texts that fill all of a model's places, in a batch with others that have longer prompts."""

import pytest

from tests.generation.cases import LENGTH, eagerly, generator_of
from tests.repeating import often

PROMPTS = ["a cat jumps over the dog", "the"]


@pytest.mark.parametrize(
    ("sampler", "ahead"),
    often([("greedy", 0), ("beam", 0), ("contrastive", 1)], [("greedy", 0), ("contrastive", 1)]),
)
@eagerly()
def test_a_row_that_is_full_waits_for_the_others(sampler, ahead):
    """Its positions are learned: there is none after the last."""
    generator = generator_of("causal_lm")
    never = {"[SEP]": -1_000.0}
    found = generator.generate(PROMPTS, sampler={"kind": sampler}, max_new_tokens=60, logit_bias=never)
    lengths = [len(prompt.ids) for prompt in generator.framing.read(PROMPTS)]
    # The token that is written last is not read.
    assert [len(one.ids) for one in found] == [LENGTH + 1 - length - ahead for length in lengths]
    assert {one.ended for one in found} == {"length"}
