"""The scores of a task that the Evaluator blesses a model by: records are collected on Beam, then scored.

TFMA finds them by this module's path, which is in the EvalConfig.
"""

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
import numpy as np
import numpy.typing as npt
import tensorflow_model_analysis as tfma

# Registers the ops of the exported model's tokenizer, wherever a worker loads the metrics and then the model.
import tensorflow_text  # noqa: F401

from firth import features as names
from firth.evaluation.constant_answers import compared_metrics, constant_comparisons
from firth.evaluation.record_scores import EXAMPLE_COUNT, Records, record_scores, split_name
from firth.recipes.base.errors import suggest
from firth.recipes.tasks.task import Task
from firth.recipes.tasks.tasks import task_from_json
from firth.scores import Collected, score_of
from firth.scores.score_table import PROBABILITIES
from firth.tasks import TASKS

metric_types = tfma.metrics.metric_types

# Fields of a row that are read next to the outputs of the model.
_READ = (names.SOURCE, names.RECORD_DETAILS, names.FOUND_KEYS)
SCORES_KEY = "_firth_record_scores"


class ScoreOfRecords(tfma.metrics.Metric):
    """One of a task's `score_metrics` or `comparison_metrics`, of the records in the outputs of `evaluate`.

    A score also brings its values in slices, as metrics of their own, and the first one the numbers of
    records. However many scores are asked for, records are collected once, and scored
    once.
    """

    def __init__(self, name: str, task: Mapping[str, Any]) -> None:
        text = json.dumps(task)
        parsed = _task(text)
        for score in parsed.score_names:
            score_of(score)
        known = (*parsed.score_metrics, *parsed.comparison_metrics)
        if name not in known:
            raise ValueError(f"no metric {name!r} of this task; {suggest(name, known)}")
        computations = tfma.metrics.merge_per_key_computations(_computations)
        super().__init__(computations, name=name, task=task)

    # The scores bring intervals of their own, which resample records and not rows.
    compute_confidence_interval = False


tfma.metrics.metric_types.register_metric(ScoreOfRecords)


def _computations(
    name: str, task: Mapping[str, Any], model_name: str = "", output_name: str = ""
) -> list[Any]:
    def key_of(metric: str) -> Any:
        return metric_types.MetricKey(name=metric, model_name=model_name, output_name=output_name)

    scores_key = key_of(SCORES_KEY)
    parsed = _task(json.dumps(task))
    is_first = name == parsed.score_metrics[0]
    own = {name, *(compared_metrics(name) if name in parsed.comparison_metrics else ())}
    own |= {EXAMPLE_COUNT} if is_first else set()

    def result(metrics: dict[Any, Any]) -> dict[Any, float]:
        return {
            key_of(each): value for each, value in metrics[scores_key].items() if split_name(each)[0] in own
        }

    return [
        metric_types.MetricComputation(
            keys=[scores_key],
            preprocessors=[metric_types.FeaturePreprocessor(feature_keys=_READ)],
            combiner=ScoreRecords(scores_key, json.dumps(task)),
        ),
        metric_types.DerivedMetricComputation(keys=[key_of(name)], result=result),
    ]


@functools.cache
def _task(text: str) -> Task:
    return task_from_json(text)


class ScoreRecords(beam.CombineFn):
    """Collects the records of all rows, and scores them."""

    def __init__(self, key: Any, task: str) -> None:
        self._key = key
        self._text = task

    @property
    def _task(self) -> Task:
        return _task(self._text)

    def create_accumulator(self) -> Records:
        """Returns no records."""
        return Records()

    def add_input(self, accumulator: Records, element: Any) -> Records:
        """Adds the records of one row."""
        # TFMA keeps outputs by model only where there are several.
        predictions = element.get_predictions()
        outputs = predictions.get(self._key.model_name, predictions)
        if names.RECORD_PREDICTIONS not in outputs:
            raise ValueError(f"the model gives no {names.RECORD_PREDICTIONS}; it has {', '.join(outputs)}")
        features = element.get_features() or {}
        if names.RECORD_DETAILS in features:
            outputs = {**outputs, names.RECORD_DETAILS: np.ravel(features[names.RECORD_DETAILS])}
        accumulator.add(self._records(outputs, _source(features)))
        accumulator.found |= _found(features)
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[Records]) -> Records:
        """Joins records."""
        joined = Records()
        for each in accumulators:
            joined.add(each)
        return joined

    def extract_output(self, accumulator: Records) -> dict[str, Any]:
        """Returns the metrics of all scores by name, under the key."""
        records = _joined(self._task, accumulator)
        return {self._key: record_scores(self._task, records) | constant_comparisons(self._task, records)}

    def _records(self, outputs: Mapping[str, npt.NDArray[Any]], source: str) -> Records:
        task = self._task
        predictions = outputs[names.RECORD_PREDICTIONS][outputs[names.RECORD_WEIGHTS] > 0]
        broken = sum(not np.isfinite(each).all() for each in predictions)
        if broken:
            return Records(broken=broken)
        examples = TASKS[task.kind].collected(task, outputs, source)
        asks = any(score_of(name).inputs is PROBABILITIES for name in task.score_names)
        baselines = getattr(TASKS[task.kind], "baselines", None)
        return Records(
            examples,
            list(_probable(examples, outputs)) if asks else [],
            **({} if baselines is None else baselines(task, outputs, source)),
        )


def _joined(task: Task, records: Records) -> Records:
    """Returns the records that were collected in parts as they are scored."""
    join = getattr(TASKS[task.kind], "joined", None)
    if join is None:
        return records
    return Records(**join(task, records.examples), broken=records.broken, found=records.found)


def _found(features: Mapping[str, Any]) -> set[str]:
    """Returns the ids of a row's records that a corpus was found to hold."""
    keys = features.get(names.FOUND_KEYS)
    return set() if keys is None else {str(int(key)) for key in np.ravel(keys)}


def _source(features: Mapping[str, Any]) -> str:
    values = np.ravel(features.get(names.SOURCE, []))
    return values[0].decode() if len(values) else ""


def _probable(examples: Iterable[Collected], outputs: Mapping[str, npt.NDArray[Any]]) -> Iterator[Collected]:
    """Yields the examples of a row with the numbers and probabilities of their classes."""
    found = np.flatnonzero(outputs[names.RECORD_WEIGHTS])
    places = {str(int(outputs[names.RECORD_KEYS][place])): place for place in found}
    for each in examples:
        place = places[each.id]
        label = int(outputs[names.RECORD_LABELS][place])
        given = [float(share) for share in outputs[names.RECORD_PREDICTIONS][place]]
        yield Collected(each.id, label, given, each.source, each.length)
