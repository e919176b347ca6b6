"""The share of texts that are right to the letter."""

from collections.abc import Sequence

from firth.scores.bleu import Texts, texts_of
from firth.scores.inputs import check_pairs


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
    check_pairs(references, predictions)
    values = [is_exact(*pair) for pair in zip(references, predictions)]
    return sum(values) / len(values) if values else 0.0
