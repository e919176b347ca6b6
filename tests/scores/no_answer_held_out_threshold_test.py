import numpy as np
import pytest

from firth.scores import Collected, ScoredAnswer, best_threshold, compute, compute_interval
from firth.scores.answers import answer_f1_of, exact_match_of
from firth.scores.no_answer import half_of

SCORES = {"squad_f1_held_out": answer_f1_of, "squad_exact_match_held_out": exact_match_of}


def questions(count, seed=5):
    random = np.random.default_rng(seed)
    lacks = random.random(count) < 0.5
    references = [[] if each else ["Norse raiders", "Norse"] for each in lacks]
    scores = (lacks + random.normal(0, 0.6, count)).round(2)
    return references, [ScoredAnswer("the Norse men", float(each)) for each in scores]


@pytest.mark.parametrize("name", SCORES)
def test_each_half_has_the_threshold_of_the_other(name):
    """By `best_threshold`, of F1, and never by the question itself."""
    references, predictions = questions(60)
    halves = [half_of(*each) for each in zip(references, predictions)]
    assert set(halves) == {0, 1}
    values = []
    for half in (0, 1):
        others = [place for place in range(60) if halves[place] != half]
        limit = best_threshold(
            *([column[place] for place in others] for column in (references, *zip(*predictions)))
        )
        values += [
            SCORES[name](right, "" if given.no_answer > limit else given.text)
            for right, given, own in zip(references, predictions, halves)
            if own == half
        ]
    found = [Collected(str(n), *each) for n, each in enumerate(zip(references, predictions))]
    assert compute(name, found).value == pytest.approx(np.mean(values))
    best = best_threshold(references, *zip(*predictions))
    at_best = [answer_f1_of(r, "" if p.no_answer > best else p.text) for r, p in zip(references, predictions)]
    assert compute("squad_f1_held_out", found).value <= np.mean(at_best)


def test_of_one_question_and_of_none():
    one = [Collected("0", ["Norse"], ScoredAnswer("Norse", 9.0))]
    assert compute("squad_exact_match_held_out", one).value == 100.0
    assert compute("squad_f1_held_out", []).value == 0.0
    found = compute_interval("squad_f1_held_out", one, resamples=20)
    assert (found.low, found.high) == (100.0, 100.0)


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="0 is nan"):
        compute("squad_f1_held_out", [Collected("0", ["Norse"], ScoredAnswer("Norse", float("nan")))])
