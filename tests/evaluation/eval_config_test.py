import json
import math

import pytest
from tensorflow_model_analysis.evaluators import metrics_validator
from tensorflow_model_analysis.metrics import metric_types

from firth.evaluation import build_eval_config
from firth.evaluation.metrics import metrics_of
from firth.evaluation.tfma_metrics import MetricOfSums
from firth.recipes import Evaluation, MaskedLM, Threshold


def configs_of(config):
    return {json.loads(metric.config)["name"]: metric for metric in config.metrics_specs[0].metrics}


def test_all_metrics_are_computed_and_bounded_ones_by_value():
    threshold = Threshold(metric="nsp_accuracy", lower_bound=0.5)
    metrics = configs_of(build_eval_config(Evaluation(thresholds=(threshold,)), MaskedLM()))
    assert list(metrics) == ["row_count", *metrics_of({"mlm": None, "nsp": 2})]
    bounded = [name for name, metric in metrics.items() if metric.per_slice_thresholds]
    assert bounded == ["nsp_accuracy"]
    threshold = metrics["nsp_accuracy"].per_slice_thresholds[0].threshold
    assert threshold.value_threshold.lower_bound.value == 0.5
    assert not threshold.value_threshold.HasField("upper_bound")
    assert not threshold.HasField("change_threshold")


def test_the_narrower_of_two_bounds_holds():
    bounds = [(1.0, 9.0), (2.0, None), (None, 8.0)]
    thresholds = tuple(
        Threshold(metric="mlm_perplexity", lower_bound=lower, upper_bound=upper) for lower, upper in bounds
    )
    metrics = configs_of(build_eval_config(Evaluation(thresholds=thresholds), MaskedLM()))
    threshold = metrics["mlm_perplexity"].per_slice_thresholds[0].threshold.value_threshold
    assert (threshold.lower_bound.value, threshold.upper_bound.value) == (2.0, 8.0)


@pytest.mark.parametrize(
    ("value", "blessed"), [(3.5, True), (1e300, True), (math.inf, False), (math.nan, False)]
)
def test_without_thresholds_every_finite_metric_is_enough(value, blessed):
    """TFX's Evaluator, which blesses nothing without a threshold, validates by this function of TFMA."""
    config = build_eval_config(Evaluation(thresholds=()), MaskedLM())
    names = metrics_of({"mlm": None, "nsp": 2})
    metrics = {metric_types.MetricKey(name): 1.0 for name in names}
    metrics[metric_types.MetricKey("text_perplexity")] = value
    validated = metrics_validator.validate_metrics(((), metrics), config)
    assert validated.validation_ok is blessed
    missed = [
        each.metric_key.name for found in validated.metric_validations_per_slice for each in found.failures
    ]
    assert missed == ([] if blessed else ["text_perplexity"])


def test_slices_are_the_whole_split_and_each_source():
    config = build_eval_config(Evaluation(), MaskedLM(next_sentence=False))
    assert [list(spec.feature_keys) for spec in config.slicing_specs] == [[], ["source"]]
    assert "nsp_accuracy" not in configs_of(config)


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match=r"'bleu'.* mlm_perplexity"):
        MetricOfSums("bleu", {"mlm": None})
