"""The bounds that a recipe sets for metrics."""

import math
import sys
from collections.abc import Iterable
from typing import NamedTuple

from firth.recipes import Evaluation
from firth.recipes.goals.goal import Goal

LARGEST = sys.float_info.max


class Bounds(NamedTuple):
    """Bounds of a metric; None for a side without one.

    Attributes:
        lower: Least allowed value.
        upper: Largest allowed value.
    """

    lower: float | None = None
    upper: float | None = None

    @property
    def text(self) -> str:
        """The bounds in words.

        Example:

        >>> Bounds(upper=1.0).text, FINITE.text
        ('at most 1', 'a finite number')
        """
        if self == FINITE:
            return "a finite number"
        sides = [] if self.lower is None else [f"at least {self.lower:g}"]
        sides += [] if self.upper is None else [f"at most {self.upper:g}"]
        return " and ".join(sides)

    def keeps(self, value: float | None) -> bool:
        """Returns true if a value is within the bounds. None and not-a-number never are.

        Example:

        >>> [FINITE.keeps(value) for value in (1e300, math.inf, math.nan, None)]
        [True, False, False, False]
        """
        if value is None or math.isnan(value):
            return False
        return (self.lower is None or value >= self.lower) and (self.upper is None or value <= self.upper)


# TFX's Evaluator blesses nothing without a threshold. Every number that is finite keeps this one.
FINITE = Bounds(-LARGEST, LARGEST)


def bounds_of(evaluation: Evaluation, goal: Goal, metrics: Iterable[str]) -> dict[str, Bounds]:
    """Returns the bounds of each metric that has some, the narrower of two.

    A recipe without thresholds requires every metric to be a finite number, and a task's model to be better
    than the best constant answer, if the evaluation says so.

    Example:

    >>> from firth.recipes import MaskedLM
    >>> from firth.recipes.tasks.classification import Classification
    >>> from firth.recipes import TaskEvaluation
    >>> bounds_of(Evaluation(), MaskedLM(), ["mlm_accuracy", "perplexity_over_unigram"])
    {'perplexity_over_unigram': Bounds(lower=None, upper=1.0)}
    >>> task, metrics = Classification(labels=("no", "yes")), ["accuracy", "accuracy_beats_constant"]
    >>> [each.text for each in bounds_of(TaskEvaluation(), task, metrics).values()]
    ['a finite number', 'at least 1']
    """
    if not evaluation.thresholds:
        constant = goal.constant_bounds if evaluation.compares_with_constant else {}
        return {name: Bounds(*constant[name]) if name in constant else FINITE for name in metrics}
    bounds: dict[str, Bounds] = {}
    for threshold in evaluation.thresholds:
        before = bounds.get(threshold.metric, Bounds())
        lower = [side for side in (before.lower, threshold.lower_bound) if side is not None]
        upper = [side for side in (before.upper, threshold.upper_bound) if side is not None]
        bounds[threshold.metric] = Bounds(max(lower, default=None), min(upper, default=None))
    return bounds


def describe(metric: str, value: float | None, bounds: Bounds) -> str:
    """Returns a metric compared with its bounds, in words.

    Example:

    >>> describe("mlm_accuracy", 0.1, Bounds(lower=0.2)), describe("lm_perplexity", math.inf, FINITE)
    ('mlm_accuracy is 0.1, at least 0.2 is asked', 'lm_perplexity is inf, a finite number is asked')
    """
    shown = "not recorded" if value is None else f"{value:,.4g}"
    return f"{metric} is {shown}, {bounds.text} is asked"
