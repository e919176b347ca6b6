"""Properties of every score of the table, on any inputs of its kind."""

import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from firth.scores import SCORES, Collected, ScoredAnswer, TextVectors, compute, compute_interval
from firth.scores.replies import ReplyPieces
from firth.scores.score_table import (
    ANSWERS,
    CONSTRAINED,
    LABELS,
    NUMBERS,
    PROBABILITIES,
    REPLIES,
    SCORED_ANSWERS,
    TAGS,
    TEXTS,
    VECTORS,
    WRITTEN,
)

WORDS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mats", "."]), max_size=8).map(" ".join)
TAG = st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"])


def same_length(words: int) -> st.SearchStrategy:
    return st.tuples(*[st.lists(TAG, min_size=words, max_size=words)] * 2)


def two_classes(probability: float) -> list[float]:
    return [probability, 1.0 - probability]


def two_vectors(cosine: float, place: int = 0) -> TextVectors:
    """Two vectors with a cosine, orthogonal to those of another place."""
    vectors = np.zeros((2, 12), "float32")
    vectors[0, 2 * place] = 1
    vectors[1, 2 * place : 2 * place + 2] = cosine, math.sqrt(1 - cosine**2)
    return TextVectors(*(each.tobytes() for each in vectors))


# By what a score takes: pairs of a reference and a prediction; and the prediction that is right.
PAIRS = {
    LABELS: st.tuples(st.sampled_from("abc"), st.sampled_from("abc")),
    NUMBERS: st.tuples(st.integers(0, 5).map(float), st.floats(-2, 7)),
    ANSWERS: st.tuples(st.lists(WORDS, max_size=2), WORDS),
    SCORED_ANSWERS: st.tuples(
        st.lists(WORDS, max_size=2), st.builds(ScoredAnswer, WORDS, st.integers(-3, 3).map(float))
    ),
    TAGS: st.integers(1, 5).flatmap(same_length),
    TEXTS: st.tuples(WORDS, WORDS),
    **dict.fromkeys((WRITTEN, CONSTRAINED), st.tuples(WORDS, st.sampled_from(["1", "[]", "{", '"a"']))),
    PROBABILITIES: st.tuples(st.integers(0, 1), st.floats(0, 1).map(two_classes)),
    REPLIES: st.tuples(st.builds(ReplyPieces, st.integers(0, 9)), st.floats(-50, 0)),
    VECTORS: st.tuples(st.integers(0, 5).map(float), st.floats(-1, 1).map(two_vectors)),
}
RIGHT: dict[Any, Callable] = {
    LABELS: lambda label: label,
    NUMBERS: lambda number: number,
    ANSWERS: lambda answers: answers[0] if answers else "",
    SCORED_ANSWERS: lambda answers: ScoredAnswer(*((answers[0], -1.0) if answers else ("Norse", 1.0))),
    TAGS: lambda tags: tags,
    TEXTS: lambda texts: texts if isinstance(texts, str) else texts[0],
    **dict.fromkeys((WRITTEN, CONSTRAINED), lambda _: " [1, 2]\n"),
    PROBABILITIES: lambda place: two_classes(1.0 - place),
    REPLIES: lambda pieces: 0.0,
    VECTORS: lambda number: two_vectors(0.1 + 0.1 * number, int(number)),
}
# References that every score can be perfect on.
REFERENCES: dict[Any, Sequence] = {
    LABELS: ["a", "b", "b"],
    NUMBERS: [0.0, 2.5, 5.0],
    ANSWERS: [["the Norse"], [], ["1066", "in 1066"]],
    # Each half has a question with an answer.
    SCORED_ANSWERS: [["the Norse"], [], ["1066", "in 1066"]],
    TAGS: [["B-PER", "I-PER", "O"], ["O", "B-LOC"]],
    TEXTS: ["the cat sat on the mat . it purred .", ["a dog bit the other dog", "the dog bit"]],
    **{each: ["", ["one"], 1] for each in (WRITTEN, CONSTRAINED)},
    PROBABILITIES: [0, 1, 1],
    REPLIES: [ReplyPieces(3, -9.0), ReplyPieces(0), ReplyPieces(1, -2.0)],
    VECTORS: [0.0, 2.5, 5.0],
}
SCHEMA = {"schema": {"type": "array"}}
OPTIONS: dict[str, dict] = {
    "f1": {"positive": "b"},
    "schema_valid": SCHEMA,
    "schema_valid_constrained": SCHEMA,
}
every_score = pytest.mark.parametrize("name", SCORES)


def score(name: str, pairs: Sequence[tuple[Any, Any]]) -> float:
    references, predictions = [list(column) for column in zip(*pairs)] or ([], [])
    return SCORES[name].function(references, predictions, **OPTIONS.get(name, {}))


@every_score
@settings(max_examples=5, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_score_is_in_its_range_whatever_the_order(name, data):
    pairs = data.draw(st.lists(PAIRS[SCORES[name].inputs], min_size=1, max_size=6))
    shuffled = data.draw(st.permutations(pairs))
    low, high = SCORES[name].range
    value = score(name, pairs)
    assert low - 1e-9 <= value <= high + 1e-9
    assert score(name, shuffled) == pytest.approx(value, abs=1e-9)


@every_score
@settings(max_examples=8, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_mean_over_examples_is_the_mean_of_its_parts(name, data):
    of_one = SCORES[name].of_one
    if of_one is not None:
        pairs = data.draw(st.lists(PAIRS[SCORES[name].inputs], min_size=1, max_size=6))
        mean = math.fsum(of_one(*pair, **OPTIONS.get(name, {})) for pair in pairs) / len(pairs)
        assert score(name, pairs) == pytest.approx(mean, abs=1e-9)


@every_score
def test_right_predictions_have_the_best_value(name):
    references = REFERENCES[SCORES[name].inputs]
    right = RIGHT[SCORES[name].inputs]
    assert score(name, [(each, right(each)) for each in references]) == pytest.approx(SCORES[name].best)


@every_score
def test_the_value_of_no_examples_is_stated(name):
    assert score(name, []) == SCORES[name].of_nothing
    interval = compute_interval(name, [], **OPTIONS.get(name, {}))
    assert interval == (SCORES[name].of_nothing, *SCORES[name].range)


@every_score
def test_examples_without_a_reference_or_a_prediction_are_refused(name):
    reference = REFERENCES[SCORES[name].inputs][0]
    with pytest.raises(ValueError, match=r"example 0 .*reference"):
        score(name, [(None, reference)])
    with pytest.raises(ValueError, match=r"example 0 .*prediction"):
        score(name, [(reference, None)])
    with pytest.raises(ValueError, match=r"1 references.* 2 predictions"):
        SCORES[name].function([reference], [reference] * 2, **OPTIONS.get(name, {}))


@every_score
def test_a_value_keeps_what_computed_it(name):
    references = REFERENCES[SCORES[name].inputs]
    pairs = [Collected(str(n), each, RIGHT[SCORES[name].inputs](each)) for n, each in enumerate(references)]
    signature = compute(name, pairs, **OPTIONS.get(name, {})).signature
    assert any(char.isdigit() for char in signature) or signature == "firth"
    assert all(f"{option}:" in signature for option in OPTIONS.get(name, {}))
    assert name != "f1" or "positive:b" in signature


def test_the_table_needs_none_of_the_libraries():
    libraries = {"sklearn", "scipy", "seqeval", "sacrebleu", "rouge_score", "nltk", "tensorflow"}
    code = f"import sys, firth.scores; print(sorted({libraries} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
