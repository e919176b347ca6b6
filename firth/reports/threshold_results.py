"""Metrics compared with the thresholds of a recipe, and lines on the distances of the data of a run."""

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from firth import storage
from firth.corpus.report.limits import ShareChange, change_line
from firth.evaluation.bounds import bounds_of
from firth.evaluation.record_scores import EXAMPLE_COUNT, OVERALL
from firth.recipes import Evaluation
from firth.recipes.goals.goal import Goal

# No figures of quality.
COUNTS = ("row_count", EXAMPLE_COUNT)
# Metrics in the order in which they are compared.
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
_OTHERS = {"drift": "the last run", "skew": "the requests"}


@dataclasses.dataclass(frozen=True)
class BoundedMetric:
    """One metric that has bounds, and whether the model kept them.

    Attributes:
        metric: Name of the metric.
        bounds: Bounds in words.
        value: Value of the metric; None if it was not recorded.
        kept: True if the value is within the bounds.
    """

    metric: str
    bounds: str
    value: float | None
    kept: bool


def overall(evaluation: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Returns the metrics over the whole split, in the order in which they are read.

    Example:

    >>> overall({"overall": {"mlm_accuracy": 0.5}, "source=books": {"mlm_accuracy": 0.4}})
    {'mlm_accuracy': 0.5}
    """
    metrics = evaluation.get(OVERALL, {})
    first = [name for name in _FIRST if name in metrics]
    return {name: metrics[name] for name in [*first, *sorted(metrics.keys() - set(first))]}


def threshold_results(
    evaluation: Evaluation, goal: Goal, metrics: Mapping[str, float]
) -> list[BoundedMetric]:
    """Returns the result of each metric that the recipe bounds; of all of them if it sets no threshold.

    Example:

    >>> from firth.recipes import CausalLM, MaskedLM, Threshold
    >>> asked = Evaluation(thresholds=(Threshold(metric="mlm_accuracy", lower_bound=0.2),))
    >>> threshold_results(asked, MaskedLM(), {"mlm_accuracy": 0.1})
    [BoundedMetric(metric='mlm_accuracy', bounds='at least 0.2', value=0.1, kept=False)]
    >>> threshold_results(Evaluation(thresholds=()), CausalLM(), {"lm_perplexity": 9.0, "row_count": 3.0})
    [BoundedMetric(metric='lm_perplexity', bounds='a finite number', value=9.0, kept=True)]
    """
    asked = bounds_of(evaluation, goal, [name for name in metrics if name not in COUNTS])
    values = {name: metrics.get(name) for name in asked}
    return [
        BoundedMetric(name, bounds.text, values[name], bounds.keeps(values[name]))
        for name, bounds in asked.items()
    ]


def distance_lines(outputs: Mapping[str, Mapping[str, os.PathLike[str]]]) -> list[str]:
    """Returns a line for each feature's distance, and one for the share of each kind that moved furthest."""
    lines = [
        distance_line(each) for each in _read(outputs, "DistributionValidator", "distances", "distances")
    ]
    furthest: dict[str, ShareChange] = {}
    for each in _read(outputs, "CorpusValidator", "measured", "shares"):
        furthest.setdefault(each["of"], ShareChange(**each))
    return [*lines, *map(change_line, furthest.values())]


def _read(
    outputs: Mapping[str, Mapping[str, os.PathLike[str]]], component: str, output: str, name: str
) -> list[dict[str, Any]]:
    folder = outputs.get(component, {}).get(output)
    return [] if folder is None else storage.read_json(os.path.join(folder, f"{name}.json")) or []


def distance_line(measured: Mapping[str, Any]) -> str:
    """Returns one distance in words.

    Example:

    >>> about = {"comparison": "drift", "split": "train", "feature": "label", "measure": "infinity_norm"}
    >>> distance_line({**about, "distance": 0.25, "threshold": 0.1})
    'drift of label in train: 0.25 from the last run (infinity norm), more than 0.1'
    """
    comparison, distance, most = measured["comparison"], measured["distance"], measured["threshold"]
    beyond = "more than" if distance > most else "at most"
    return (
        f"{comparison} of {measured['feature']} in {measured['split']}: {distance:.3g} from "
        f"{_OTHERS[comparison]} ({measured['measure'].replace('_', ' ')}), {beyond} {most:g}"
    )
