"""Accuracy of the tags of words."""

import pytest

from firth.scores import Collected, compute, compute_interval
from firth.scores.entities import tag_accuracy

NOUN, VERB = "NOUN", "VERB"


def test_words_count_and_not_sentences():
    right = [(NOUN, VERB, VERB), (NOUN,)]
    assert tag_accuracy(right, [(NOUN, VERB, NOUN), (VERB,)]) == 0.5
    assert tag_accuracy(right, right) == 1.0
    assert tag_accuracy([], []) == tag_accuracy([()], [()]) == 0.0


def test_a_shorter_prediction_is_refused():
    with pytest.raises(ValueError, match=r"sentence 0 .*2 tags.* 1 "):
        tag_accuracy([(NOUN, VERB)], [(NOUN,)])


def test_its_interval_resamples_sentences():
    examples = [Collected(str(n), (NOUN, VERB), (NOUN, VERB if n % 2 else NOUN)) for n in range(40)]
    assert compute("tag_accuracy", examples).value == 0.75
    found = compute_interval("tag_accuracy", examples, resamples=100)
    assert 0.6 < found.low < 0.75 < found.high < 0.9
