"""Scores of classes: accuracy, F1 and Matthews' correlation, by scikit-learn."""

from collections.abc import Hashable, Sequence

from firth.scores.inputs import label_ids, label_type


def is_right(reference: Hashable, prediction: Hashable) -> float:
    """Returns 1 if a label was predicted, else 0: the part of one example in the accuracy."""
    return float(reference == prediction)


def accuracy(references: Sequence[Hashable], predictions: Sequence[Hashable]) -> float:
    """Returns the share of right predictions; 0 of no examples.

    Args:
        references: Labels, all str, all int or all bool.

    Raises:
        ValueError: as `label_ids` says.

    Example:

    >>> accuracy(["yes", "no", "no", "no"], ["yes", "yes", "no", "no"])
    0.75
    """
    from sklearn.metrics import accuracy_score

    right, predicted, _ = label_ids(references, predictions)
    return float(accuracy_score(right, predicted)) if len(right) else 0.0


def f1(references: Sequence[Hashable], predictions: Sequence[Hashable], *, positive: Hashable) -> float:
    """Returns F1 of one class; 0 if it was neither predicted nor right, as of no examples.

    Args:
        references: Labels, all str, all int or all bool.

    Example:

    >>> round(f1(["1", "0", "0", "1"], ["1", "1", "0", "1"], positive="1"), 4)
    0.8
    """
    from sklearn.metrics import f1_score

    right, predicted, names = label_ids(references, predictions)
    if names and label_type(positive) != label_type(names[0]):
        raise ValueError(f"the positive class {positive!r} is of another type than the label {names[0]!r}")
    if positive not in names:
        return 0.0
    place = names.index(positive)
    return float(f1_score(right == place, predicted == place, zero_division=0.0))


def macro_f1(references: Sequence[Hashable], predictions: Sequence[Hashable]) -> float:
    """Returns the mean of F1 over the classes that occur, right or predicted; 0 of no examples.

    Args:
        references: Labels, all str, all int or all bool.

    Raises:
        ValueError: as `label_ids` says.

    Example:

    >>> round(macro_f1(["a", "b", "b"], ["a", "b", "a"]), 4)
    0.6667
    """
    from sklearn.metrics import f1_score

    right, predicted, _ = label_ids(references, predictions)
    return float(f1_score(right, predicted, average="macro", zero_division=0.0)) if len(right) else 0.0


def matthews(references: Sequence[Hashable], predictions: Sequence[Hashable]) -> float:
    """Returns Matthews' correlation, of any number of classes (Gorodkin, 2004).

    It is 0 if all references or all predictions are of one class, where the formula divides by zero, and of
    no examples.

    Args:
        references: Labels, all str, all int or all bool.

    Raises:
        ValueError: as `label_ids` says.

    Example:

    >>> matthews(["1", "0", "1", "0"], ["1", "1", "1", "1"])
    0.0
    """
    from sklearn.metrics import matthews_corrcoef

    right, predicted, names = label_ids(references, predictions)
    return float(matthews_corrcoef(right, predicted)) if len(names) > 1 else 0.0
