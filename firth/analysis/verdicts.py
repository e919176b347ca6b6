"""Metrics beside the thresholds that a recipe sets."""

import dataclasses
from collections.abc import Mapping

from firth.recipes import Evaluation, Threshold

# The slice of the whole split, by the name that `firth.evaluation.load_evaluation` gives it.
OVERALL = "overall"
# A figure and what to compare it with, side by side.
_FIRST = (
    "mlm_perplexity",
    "lm_perplexity",
    "text_perplexity",
    "unigram_perplexity",
    "perplexity_over_unigram",
    "bits_per_byte",
    "mlm_accuracy",
    "lm_accuracy",
)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One threshold, and how the model met it.

    Attributes:
        metric: Its name.
        bounds: In words.
        value: None where the metric was not recorded.
        kept: Whether the value lies within the bounds.
    """

    metric: str
    bounds: str
    value: float | None
    kept: bool

    @property
    def text(self) -> str:
        """The verdict in words."""
        value = "not recorded" if self.value is None else f"{self.value:,.4g}"
        return f"{self.metric} is {value}, {self.bounds} is asked"


def overall(evaluation: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Returns the metrics over the whole split, in the order in which they are read.

    Example:

    >>> overall({"overall": {"mlm_accuracy": 0.5}, "source=books": {"mlm_accuracy": 0.4}})
    {'mlm_accuracy': 0.5}
    """
    metrics = evaluation.get(OVERALL, {})
    first = [name for name in _FIRST if name in metrics]
    return {name: metrics[name] for name in [*first, *sorted(metrics.keys() - set(first))]}


def verdicts(evaluation: Evaluation, metrics: Mapping[str, float]) -> list[Verdict]:
    """Returns a verdict for each threshold.

    Example:

    >>> asked = Evaluation(thresholds=(Threshold(metric="mlm_accuracy", lower_bound=0.2),))
    >>> verdicts(asked, {"mlm_accuracy": 0.1})[0].text
    'mlm_accuracy is 0.1, at least 0.2 is asked'
    """
    return [_verdict(threshold, metrics.get(threshold.metric)) for threshold in evaluation.thresholds]


def _verdict(threshold: Threshold, value: float | None) -> Verdict:
    lower, upper = threshold.lower_bound, threshold.upper_bound
    bounds = [f"at least {lower:g}"] if lower is not None else []
    bounds += [f"at most {upper:g}"] if upper is not None else []
    kept = value is not None and (lower is None or value >= lower) and (upper is None or value <= upper)
    return Verdict(threshold.metric, " and ".join(bounds), value, kept)
