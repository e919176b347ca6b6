"""The configuration of TFMA: metrics, slices and thresholds."""

import json
from collections.abc import Mapping

from tensorflow_model_analysis.proto import config_pb2

from firth.evaluation.bounds import Bounds, bounds_of
from firth.evaluation.metrics import metrics_of
from firth.features import SOURCE
from firth.recipes import Evaluation

SIGNATURE = "evaluate"
METRICS_MODULE = "firth.evaluation.tfma_metrics"


def build_eval_config(evaluation: Evaluation, losses: Mapping[str, int | None]) -> config_pb2.EvalConfig:
    """Returns the EvalConfig of a recipe: its metrics over the whole split and by source, and its thresholds.

    Thresholds hold for the whole split. They bound values, not changes, so that a first model can be blessed
    although there is no other to compare it with. Without thresholds, every metric must be a finite number.

    Args:
        evaluation: Evaluation of the recipe.
        losses: Number of answers of each loss, by its name, as for `metrics_of`.

    Example:

    >>> config = build_eval_config(Evaluation(), {"lm": None})
    >>> [json.loads(metric.config)["name"] for metric in config.metrics_specs[0].metrics if metric.config]
    ['lm_perplexity', 'lm_accuracy', 'text_perplexity', 'unigram_perplexity', 'perplexity_over_unigram', ...]
    """
    names = list(metrics_of(losses))
    bounds = bounds_of(evaluation, names)
    metrics = [config_pb2.MetricConfig(class_name="ExampleCount")]
    metrics += [_metric(name, losses, bounds.get(name)) for name in names]
    # Without its type, TFMA would first try to load the model with Keras.
    model = config_pb2.ModelSpec(signature_name=SIGNATURE, model_type="tf_generic")
    return config_pb2.EvalConfig(
        model_specs=[model],
        slicing_specs=[config_pb2.SlicingSpec(), config_pb2.SlicingSpec(feature_keys=[SOURCE])],
        metrics_specs=[config_pb2.MetricsSpec(metrics=metrics)],
    )


def _metric(name: str, losses: Mapping[str, int | None], bounds: Bounds | None) -> config_pb2.MetricConfig:
    config = json.dumps({"name": name, "losses": dict(losses)})
    metric = config_pb2.MetricConfig(class_name="MetricOfSums", module=METRICS_MODULE, config=config)
    if bounds is not None:
        # A threshold of the metric itself would have to be kept by every slice.
        overall = metric.per_slice_thresholds.add(slicing_specs=[config_pb2.SlicingSpec()])
        value = overall.threshold.value_threshold
        if bounds.lower is not None:
            value.lower_bound.value = bounds.lower
        if bounds.upper is not None:
            value.upper_bound.value = bounds.upper
    return metric
