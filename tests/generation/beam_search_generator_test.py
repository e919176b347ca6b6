"""Beams in the Python interface, for every family that writes."""

import pytest

from firth.recipes.generation.samplers import BeamSearch
from tests.generation.cases import PROMPTS, eagerly, generator_of


@pytest.mark.parametrize("name", ["prefix_lm", "bidirectional_lm"])
@eagerly()
def test_a_search_with_one_beam_writes_what_is_likeliest(name):
    generator = generator_of(name)
    single = generator.generate(PROMPTS, sampler={"kind": "beam", "beams": 1}, max_new_tokens=4)
    assert [one.ids for one in single] == [one.ids for one in generator.generate(PROMPTS, max_new_tokens=4)]


@eagerly()
def test_the_best_texts_come_with_their_scores():
    """A stop cuts each of them."""
    generator, sampler = generator_of("causal_lm"), {"kind": "beam", "beams": 3, "n_best": 2}
    asked = {"sampler": sampler, "max_new_tokens": 4, "log_probabilities": True}
    first, *_ = found = generator.generate(PROMPTS, asked)
    for one in found:
        (other,) = one.others
        assert one.score >= other.score and one.ids != other.ids
        assert one.score == pytest.approx(sum(one.log_probabilities) / len(one.ids), rel=1e-4)
    stop = first.text[-2:]
    cut = generator.generate(PROMPTS, asked, stop=[stop])[0]
    assert (cut.ids, cut.text, cut.ended) == (first.ids, first.text[: first.text.index(stop)], "stop")


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"beams": 0}, "beams: .*0"),
        ({"beams": 2, "n_best": 3}, "n_best is 3.* 2 beams"),
        ({"early_stopping": "soon"}, "early_stopping"),
        ({"length_penalty": float("nan")}, "length_penalty"),
    ],
)
def test_a_value_out_of_its_range_is_named(values, complaint):
    with pytest.raises(ValueError, match=complaint):
        BeamSearch(**values)
