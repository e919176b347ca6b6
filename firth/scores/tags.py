"""Accuracy of the tags of words, whatever the tags are."""

import operator
from collections.abc import Sequence

import numpy as np

from firth.scores.inputs import Ints, check_pairs
from firth.scores.resampled import OfPlaces

Tags = Sequence[str]


def tag_accuracy(references: Sequence[Tags], predictions: Sequence[Tags]) -> float:
    """Returns the share of the words of all sentences whose tag is right; 0 of no words.

    Raises:
        ValueError: as `sentences_of_tags` says.

    Example:

    >>> tag_accuracy([["DET", "NOUN", "VERB"], ["NOUN"]], [["DET", "VERB", "VERB"], ["NOUN"]])
    0.75
    """
    right, given = sentences_of_tags(references, predictions)
    hits = [one == other for pair in zip(right, given) for one, other in zip(*pair)]
    return sum(hits) / len(hits) if hits else 0.0


def tag_accuracy_of_places(references: Sequence[Tags], predictions: Sequence[Tags]) -> OfPlaces:
    """Returns `tag_accuracy` of resamples, as a function of places; words are compared once."""
    right, given = sentences_of_tags(references, predictions)
    hits = np.array([sum(map(operator.eq, *pair)) for pair in zip(right, given)])
    words = np.array([len(tags) for tags in right])

    def value_of(places: Ints) -> float:
        total = words[places].sum()
        return float(hits[places].sum() / total) if total else 0.0

    return value_of


def sentences_of_tags(
    references: Sequence[Tags], predictions: Sequence[Tags]
) -> tuple[list[list[str]], list[list[str]]]:
    """Returns references and predictions as lists, which are of the same words."""
    check_pairs(references, predictions)
    right, given = [list(tags) for tags in references], [list(tags) for tags in predictions]
    for place, (tags, predicted) in enumerate(zip(right, given)):
        if len(tags) != len(predicted):
            raise ValueError(
                f"sentence {place} has {len(tags)} tags, but {len(predicted)} predicted ones; "
                "words that were cut off must be predicted as O"
            )
    return right, given
