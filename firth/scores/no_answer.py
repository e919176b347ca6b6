"""Thresholds above which a question has no answer, and scores of answers at them (SQuAD 2.0)."""

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from firth.scores.answers import Answers, answer_f1_of, exact_match_of
from firth.scores.inputs import Floats, Ints, check_pairs, finite_numbers

OFFICIAL_THRESHOLD = 1.0
"""The fixed threshold of SQuAD 2.0's script, on probabilities: above it nothing is left unanswered."""
Value = Callable[[Answers, str], float]


class ScoredAnswer(NamedTuple):
    """The best answer to a question, with the score of having none.

    Attributes:
        text: Best answer that is not empty; empty where there is no such answer.
        no_answer: Score of having no answer less that of the best answer.
    """

    text: str
    no_answer: float


Predictions = Sequence[ScoredAnswer]


def apply_threshold(predictions: Sequence[str], no_answer: Sequence[float], threshold: float) -> list[str]:
    """Returns predictions, empty where the score of having no answer is above a threshold.

    Args:
        predictions: Best answer of each question that is not empty.
        no_answer: Score of each question for having no answer, a probability or a difference of logits.
        threshold: Greatest score of a question that is answered.

    Raises:
        ValueError: if there are not as many scores as predictions, or one is NaN.

    Example:

    >>> apply_threshold(["Norse", "1066"], [0.2, 0.9], threshold=0.5)
    ['Norse', '']
    """
    scores = _scores(predictions, no_answer)
    return ["" if score > threshold else answer for answer, score in zip(predictions, scores)]


def best_threshold(
    references: Sequence[Answers],
    predictions: Sequence[str],
    no_answer: Sequence[float],
    value_of: Callable[[Answers, str], float] = answer_f1_of,
) -> float:
    """Returns the threshold with the greatest score on these questions.

    Choose it on held-out questions and apply it to others: a score at the threshold that is best on the same
    questions, which SQuAD's script prints as `best_f1`, is not a result.

    Args:
        references: Right answers of each question; none if it has no answer.
        predictions: Best answer of each question that is not empty.
        no_answer: Score of each question for having no answer.
        value_of: Score of one example: `answer_f1_of` or `exact_match_of`.

    Returns:
        One of the scores `no_answer`, the least of several that are as good; minus infinity if it is best to
        answer no question.

    Raises:
        ValueError: if numbers differ, a score is NaN, or as `check_pairs` says.

    Example:

    >>> best_threshold([["Norse"], []], ["Norse", "1066"], [0.2, 0.9])
    0.2
    """
    check_pairs(references, predictions)
    scores = _scores(predictions, no_answer)
    order = np.argsort(scores, kind="stable")
    gains = [value_of(references[each], predictions[each]) - value_of(references[each], "") for each in order]
    return _best(scores[order], np.array(gains))


def squad_exact_match_held_out(references: Sequence[Answers], predictions: Predictions) -> float:
    """Returns exact match, in percent, of each half of the questions at the other half's best threshold.

    Raises:
        ValueError: as `check_pairs` says, or if a score is not finite.
    """
    return exact_match_of_places(references, predictions)(np.arange(len(references)))


def squad_f1_held_out(references: Sequence[Answers], predictions: Predictions) -> float:
    """Returns F1, in percent, of each half of the questions at the other half's best threshold.

    Raises:
        ValueError: as `check_pairs` says, or if a score is not finite.

    Example: one question alone is answered, as there is no other to learn from.

    >>> squad_f1_held_out([["Norse"]], [ScoredAnswer("Norse", 9.0)])
    100.0
    """
    return f1_of_places(references, predictions)(np.arange(len(references)))


def exact_match_of_places(references: Sequence[Answers], predictions: Predictions) -> Callable[[Ints], float]:
    """Returns the function from places of questions to exact match, as `squad_exact_match_held_out`."""
    return _of_places(references, predictions, exact_match_of)


def f1_of_places(references: Sequence[Answers], predictions: Predictions) -> Callable[[Ints], float]:
    """Returns the function from places of questions to F1, as `squad_f1_held_out`."""
    return _of_places(references, predictions, answer_f1_of)


def half_of(reference: Answers, prediction: ScoredAnswer) -> int:
    """Returns the half that a question is in, 0 or 1: a hash of it, so that equal ones are in one half."""
    return hashlib.sha256(repr((list(reference), *prediction)).encode()).digest()[0] % 2


def _scores(predictions: Sequence[str], no_answer: Sequence[float]) -> Floats:
    if len(predictions) != len(no_answer):
        raise ValueError(f"{len(predictions)} predictions, but {len(no_answer)} scores of having no answer")
    return finite_numbers(no_answer, "score of having no answer")


def _of_places(
    references: Sequence[Answers], predictions: Predictions, value_of: Value
) -> Callable[[Ints], float]:
    check_pairs(references, predictions)
    pairs = list(zip(references, predictions))
    halves = np.array([half_of(*each) for each in pairs], np.int64)
    scores = finite_numbers([each.no_answer for each in predictions], "score of having no answer")
    answered, empty = _values(pairs, value_of)
    f1_answered, f1_empty = _values(pairs, answer_f1_of)
    order = np.argsort(scores, kind="stable")

    def of_places(places: Ints) -> float:
        if not len(places):
            return 0.0
        counts = np.bincount(places, minlength=len(pairs))
        total = 0.0
        for half in (0, 1):
            gains = (f1_answered - f1_empty) * counts * (halves != half)
            is_other = (halves != half) & (counts > 0)
            threshold = _best(scores[order], gains[order]) if is_other.any() else np.inf
            values = np.where(scores > threshold, empty, answered)
            total += float(np.sum(values * counts * (halves == half)))
        return total / len(places)

    return of_places


def _values(pairs: Sequence[tuple[Answers, ScoredAnswer]], value_of: Value) -> tuple[Floats, Floats]:
    """Returns the value of each question if it is answered, and if it is not."""
    answered = [value_of(right, given.text) for right, given in pairs]
    return np.array(answered), np.array([value_of(right, "") for right, _ in pairs])


def _best(scores: Floats, gains: Floats) -> float:
    """Returns the threshold of the greatest sum of gains, as `best_threshold` does; scores ascend."""
    # Questions of one score are answered together, or not at all.
    is_last: npt.NDArray[np.bool_] = np.append(scores[1:] != scores[:-1], True)[: len(scores)]
    totals = np.cumsum(gains)[is_last]
    return float(scores[is_last][np.argmax(totals)]) if totals.max(initial=0.0) > 0 else -math.inf
