"""Reads the results of TFX's Evaluator, for the report and the command line."""

import dataclasses
import json
import math
import re
from typing import Any

import tensorflow_model_analysis as tfma

from firth.evaluation.bounds import Bounds, describe
from firth.evaluation.constant_answers import compared_sentence
from firth.evaluation.record_scores import OVERALL, split_name

# Ending of the names of differences from a baseline, as TFMA writes them.
_DIFFERENCE = "_diff"


@dataclasses.dataclass(frozen=True)
class ThresholdResult:
    """One metric and the bounds that it had to keep.

    Attributes:
        metric: Name of the metric.
        value: Value over the whole split.
        bounds: Bounds that it had to keep.
        ok: True if it kept them.
        compared: The comparison with a constant answer that the metric decides, in words; empty for others.
    """

    metric: str
    value: float
    bounds: Bounds
    ok: bool
    compared: str = ""

    @property
    def text(self) -> str:
        """The result in words."""
        return self.compared or describe(self.metric, self.value, self.bounds)


def load_evaluation(uri: str, model_name: str | None = None) -> dict[str, dict[str, float]]:
    """Returns the metrics of each slice: of `overall`, and of each source as `source=<name>`.

    The scores of a task's records are there by length and by label too, such as `length=17-32`.

    Args:
        uri: URI of the Evaluator's `evaluation` artifact.
        model_name: Name `candidate` or `baseline` if two models were evaluated; without it, the new one.
    """
    config = _load(uri).config
    names = [spec.name for spec in config.model_specs if not spec.is_baseline]
    result = _load(uri, model_name if model_name is not None else names[0])
    slices: dict[str, dict[str, float]] = {}
    for key, metrics in result.slicing_metrics:
        name = ",".join(f"{feature}={value}" for feature, value in key) or OVERALL
        for in_slice, values in _by_slice(metrics[""][""]).items():
            # The parts of a source are too many to read.
            if name == OVERALL:
                slices[in_slice or name] = values
            elif not in_slice:
                # The scores of another source do not concern this one.
                slices[name] = {
                    metric: value
                    for metric, value in values.items()
                    if "." not in metric or not math.isnan(value)
                }
    return dict(sorted(slices.items(), key=lambda item: (item[0] != OVERALL, _in_order(item[0]))))


def _by_slice(values: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Returns the metrics of each slice of the records; under an empty name those of all."""
    slices: dict[str, dict[str, float]] = {}
    for name, value in sorted(values.items()):
        if "doubleValue" in value:
            # Next to a baseline, TFMA adds the ending after the slice.
            ending = _DIFFERENCE if name.endswith(f"]{_DIFFERENCE}") else ""
            metric, in_slice = split_name(name.removesuffix(ending))
            slices.setdefault(in_slice, {})[f"{metric}{ending}"] = float(value["doubleValue"])
    return slices


def _in_order(name: str) -> list[tuple[int, str]]:
    """Returns a sort key with the numbers in a name, so that 17-32 comes before 129-256."""
    return [(int(each), "") if each.isdecimal() else (0, each) for each in re.split(r"([0-9]+)", name)]


def load_thresholds(uri: str) -> list[ThresholdResult]:
    """Returns the result of each metric that has a bound.

    Args:
        uri: URI of the Evaluator's `evaluation` artifact.
    """
    evaluation = load_evaluation(uri)
    values = evaluation[OVERALL]
    failed = {
        failure.metric_key.name
        for validation in tfma.load_validation_result(uri).metric_validations_per_slice
        for failure in validation.failures
    }
    results = []
    for metric in _load(uri).config.metrics_specs[0].metrics:
        for sliced in metric.per_slice_thresholds:
            name = json.loads(metric.config)["name"]
            bounds = _bounds(sliced.threshold.value_threshold)
            compared = compared_sentence(evaluation, name)
            results.append(
                ThresholdResult(name, values.get(name, math.nan), bounds, name not in failed, compared)
            )
    return results


def _bounds(threshold: Any) -> Bounds:
    lower = threshold.lower_bound.value if threshold.HasField("lower_bound") else None
    upper = threshold.upper_bound.value if threshold.HasField("upper_bound") else None
    return Bounds(lower, upper)


def _load(uri: str, model_name: str | None = None) -> Any:
    return tfma.load_eval_result(uri, model_name=model_name)
