"""The threshold above which a question counts as one without an answer (SQuAD 2.0)."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from firth.scores.answers import Answers, answer_f1_of
from firth.scores.inputs import Floats, check_pairs, finite_numbers

# The fixed threshold of SQuAD 2.0's script, on probabilities: above it nothing is left unanswered.
OFFICIAL_THRESHOLD = 1.0


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
    ordered = scores[order]
    # Questions of one score are answered together, or not at all.
    is_last = np.append(ordered[1:] != ordered[:-1], True)[: len(ordered)]
    totals = np.cumsum(gains)[is_last]
    if not totals.size or totals.max() <= 0:
        return -math.inf
    return float(ordered[is_last][np.argmax(totals)])


def _scores(predictions: Sequence[str], no_answer: Sequence[float]) -> Floats:
    if len(predictions) != len(no_answer):
        raise ValueError(f"{len(predictions)} predictions, but {len(no_answer)} scores of having no answer")
    return finite_numbers(no_answer, "score of having no answer")
