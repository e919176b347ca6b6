"""The metrics for TFMA: sums over a slice on Beam, then a pure function of them.

TFMA finds them by this module's path, which is in the EvalConfig.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
import numpy.typing as npt
import tensorflow_model_analysis as tfma

# Registers the ops of the exported model's tokenizer, wherever a worker loads the metrics and then the model.
import tensorflow_text  # noqa: F401

from firth.evaluation.metrics import metrics_of
from firth.features import evaluation_sums

metric_types = tfma.metrics.metric_types

SUMS_KEY = "_firth_example_sums"


class MetricOfSums(tfma.metrics.Metric):
    """One of `metrics.metrics_of`, over the outputs of the signature `evaluate`.

    However many metrics are asked for, the sums are made once.
    """

    def __init__(self, name: str, losses: Mapping[str, int | None]) -> None:
        known = metrics_of(losses)
        if name not in known:
            raise ValueError(f"no metric {name!r}; there are {', '.join(known)}")
        computations = tfma.metrics.merge_per_key_computations(_computations)
        super().__init__(computations, name=name, losses=dict(losses))

    # An example is a row of many predictions, not a unit to resample.
    compute_confidence_interval = False


tfma.metrics.metric_types.register_metric(MetricOfSums)


def _computations(
    name: str, losses: Mapping[str, int | None], model_name: str = "", output_name: str = ""
) -> list[Any]:
    key = metric_types.MetricKey(name=name, model_name=model_name, output_name=output_name)
    sums_key = metric_types.MetricKey(name=SUMS_KEY, model_name=model_name, output_name=output_name)

    def result(metrics: dict[Any, Any]) -> dict[Any, float]:
        return {key: metrics_of(losses)[name](metrics[sums_key])}

    return [
        metric_types.MetricComputation(
            keys=[sums_key], preprocessors=None, combiner=SumExamples(sums_key, evaluation_sums(losses))
        ),
        metric_types.DerivedMetricComputation(keys=[key], result=result),
    ]


class SumExamples(beam.CombineFn):
    """Sums the outputs of all examples, in float64, into a dict by name."""

    def __init__(self, key: Any, names: Sequence[str]) -> None:
        self._key = key
        self._names = tuple(names)

    def create_accumulator(self) -> npt.NDArray[Any]:
        """Returns zeros, float64 [sums]."""
        return np.zeros(len(self._names))

    def add_input(self, accumulator: npt.NDArray[Any], element: Any) -> npt.NDArray[Any]:
        """Adds one example's outputs."""
        # TFMA keeps outputs by model only where there are several.
        predictions = element.get_predictions()
        outputs = predictions.get(self._key.model_name, predictions)
        return accumulator + [float(np.squeeze(outputs[name])) for name in self._names]

    def merge_accumulators(self, accumulators: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Adds accumulators."""
        return np.sum(list(accumulators), axis=0)

    def extract_output(self, accumulator: npt.NDArray[Any]) -> dict[str, Any]:
        """Returns the sums by name, under the key."""
        return {self._key: dict(zip(self._names, accumulator.tolist()))}
