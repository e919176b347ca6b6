"""Scores of answers: exact match and F1 of SQuAD 1.1 and 2.0, in percent, and exact match of texts."""

import re
import string
from collections import Counter
from collections.abc import Sequence

from firth.scores.bleu import Texts, texts_of
from firth.scores.inputs import mean_over_pairs
from firth.segmentation.words import split_words

Answers = Sequence[str]
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(answer: str) -> str:
    """Returns an answer as SQuAD's scripts compare it: lower case, no ASCII punctuation, no articles.

    Example:

    >>> normalised(" The U.S.   Navy's an--them ")
    'us navys anthem'
    """
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match_of(reference: Answers, prediction: str) -> float:
    """Returns 100 if a prediction equals one of the right answers when both are normalised, else 0.

    Raises:
        TypeError: if the reference is one string, whose characters would be taken for answers.
    """
    given = normalised(prediction)
    return 100.0 * any(given == each for each in _right(reference))


def answer_f1_of(reference: Answers, prediction: str) -> float:
    """Returns the greatest F1, in percent, of the words of a prediction and of each right answer.

    Where either has no words, it is 100 if neither has, else 0: the rule of SQuAD 2.0.

    Raises:
        TypeError: if the reference is one string.

    Example:

    >>> round(answer_f1_of(["the Norse", "Norse raiders from Denmark"], "Norse raiders"), 2)
    66.67
    >>> round(answer_f1_of(["挪威的海盗"], "海盗"), 2)
    50.0
    >>> answer_f1_of([], ""), answer_f1_of([], "Norse")
    (100.0, 0.0)
    """
    given = split_words(normalised(prediction))
    return 100.0 * max(_f1(split_words(each), given) for each in _right(reference))


def squad_exact_match(references: Sequence[Answers], predictions: Sequence[str]) -> float:
    """Returns the share of answers that match exactly, in percent; 0 of no examples.

    Raises:
        ValueError: as `check_pairs` says: a missing prediction is an error.
    """
    return mean_over_pairs(exact_match_of, references, predictions)


def squad_f1(references: Sequence[Answers], predictions: Sequence[str]) -> float:
    """Returns the mean over questions of `answer_f1_of`, in percent; 0 of no examples.

    Raises:
        ValueError: as `check_pairs` says.
    """
    return mean_over_pairs(answer_f1_of, references, predictions)


def is_exact(reference: Texts, prediction: str) -> float:
    """Returns 1 if a text equals one of the right ones but for white space, else 0.

    Example:

    >>> is_exact(["not  entailment", "no"], " not entailment"), is_exact("yes", "Yes")
    (1.0, 0.0)
    """
    given = prediction.split()
    return float(any(given == each.split() for each in texts_of(reference)))


def exact_match(references: Sequence[Texts], predictions: Sequence[str]) -> float:
    """Returns the share of texts that equal a right one but for white space; 0 of no examples.

    Raises:
        ValueError: as `check_pairs` says: a missing prediction is an error.
    """
    return mean_over_pairs(is_exact, references, predictions)


def _right(reference: Answers) -> list[str]:
    if isinstance(reference, str):
        raise TypeError(f"right answers are a list of strings, not one string: {reference!r}")
    # An answer of articles and punctuation alone counts as none, as in the script of SQuAD 2.0.
    return [normal for each in reference if (normal := normalised(each))] or [""]


def _f1(right: list[str], given: list[str]) -> float:
    if not right or not given:
        return float(right == given)
    shared = sum((Counter(right) & Counter(given)).values())
    return 2 * shared / (len(right) + len(given))
