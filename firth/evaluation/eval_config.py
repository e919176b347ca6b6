"""The configuration of TFMA: metrics, slices and thresholds."""

import json
from typing import Any

from tensorflow_model_analysis.proto import config_pb2

from firth.evaluation.bounds import Bounds, bounds_of
from firth.evaluation.metrics import metrics_of
from firth.features import SOURCE
from firth.recipes import Evaluation
from firth.recipes.base.errors import suggest
from firth.recipes.goals.goal import Goal

SIGNATURE = "evaluate"
ROW_COUNT = "row_count"
METRICS_MODULE = "firth.evaluation.tfma_metrics"
TASK_METRICS_MODULE = "firth.evaluation.task_metrics"


def build_eval_config(evaluation: Evaluation, goal: Goal) -> config_pb2.EvalConfig:
    """Returns the EvalConfig of a recipe: its metrics over the whole split and by source, and its thresholds.

    The metrics are those of the goal's losses, and of a task's scores with the ends of their intervals.
    Thresholds hold for the whole split. They bound values, not changes, so that a first model can be blessed
    although there is no other to compare it with. Without thresholds, every metric must be a finite number,
    and the scores of a task better than the best constant answer (see `firth.evaluation.constant_answers`).

    Args:
        evaluation: Evaluation of the recipe.
        goal: The recipe's `goal`.

    Raises:
        ValueError: for a threshold of a metric that the goal has not, with the nearest.

    Example:

    >>> from firth.recipes import CausalLM
    >>> config = build_eval_config(Evaluation(), CausalLM())
    >>> [json.loads(metric.config)["name"] for metric in config.metrics_specs[0].metrics]
    ['row_count', 'lm_perplexity', 'lm_accuracy', 'text_perplexity', 'unigram_perplexity', ...]
    """
    losses, task = goal.loss_classes, goal.model_dump(mode="json")
    metrics = {
        name: _metric("MetricOfSums", METRICS_MODULE, name=name, losses=losses) for name in metrics_of(losses)
    }
    metrics |= {
        name: _metric("ScoreOfRecords", TASK_METRICS_MODULE, name=name, task=task)
        for name in (*goal.score_metrics, *goal.comparison_metrics)
    }
    for name, bounds in bounds_of(evaluation, goal, metrics).items():
        if name not in metrics:
            raise ValueError(f"a threshold bounds {name!r}, which is not measured; {suggest(name, metrics)}")
        _bound(metrics[name], bounds)
    # Without its type, TFMA would first try to load the model with Keras.
    model = config_pb2.ModelSpec(signature_name=SIGNATURE, model_type="tf_generic")
    # TFMA's examples are rows, which hold several records of a task.
    count = config_pb2.MetricConfig(class_name="ExampleCount", config=json.dumps({"name": ROW_COUNT}))
    return config_pb2.EvalConfig(
        model_specs=[model],
        slicing_specs=[config_pb2.SlicingSpec(), config_pb2.SlicingSpec(feature_keys=[SOURCE])],
        metrics_specs=[config_pb2.MetricsSpec(metrics=[count, *metrics.values()])],
    )


def _metric(class_name: str, module: str, **config: Any) -> config_pb2.MetricConfig:
    return config_pb2.MetricConfig(class_name=class_name, module=module, config=json.dumps(config))


def _bound(metric: config_pb2.MetricConfig, bounds: Bounds) -> None:
    # A threshold of the metric itself would have to be kept by every slice.
    overall = metric.per_slice_thresholds.add(slicing_specs=[config_pb2.SlicingSpec()])
    value = overall.threshold.value_threshold
    if bounds.lower is not None:
        value.lower_bound.value = bounds.lower
    if bounds.upper is not None:
        value.upper_bound.value = bounds.upper
