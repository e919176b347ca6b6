"""The declaration of DistributionValidator."""

from tfx import types
from tfx.types import standard_artifacts

from firth.components.artifacts import Distances
from firth.components.declaration import Component, declare
from firth.components.distribution_validator.executor import Executor
from firth.recipes.run.validation import Validation


class DistributionValidator(Component, executor=Executor):
    """Compares statistics with those of an earlier run, and with those of what a served model is asked.

    TFX's ExampleValidator validates statistics by a schema alone. This calls the same function of TensorFlow
    Data Validation with the other statistics too. Largest distances are those of the recipe, and those that
    the schema itself states for other features (`drift_comparator`, `skew_comparator`).

    Args:
        statistics: Output of StatisticsGen, which the schema fits.
        schema: Schema of the records.
        validation: Part of the recipe, with the largest distances.
        **channels: `previous_statistics`, of an earlier run; `taken_statistics`, the same as `statistics` if
            an earlier run has taken these data under `on_anomaly: report`, so that their drift does not stop
            this one; and `serving_statistics`, of one split. Each may be left out.

    Outputs:
        anomalies: As ExampleValidator writes them, with the measured distances (`drift_skew_info`).
        distances: `distances.json`, a list of what `executor.distances_of` returns.
    """

    SPEC_CLASS = declare(
        inputs={"statistics": standard_artifacts.ExampleStatistics, "schema": standard_artifacts.Schema},
        optional_inputs={
            "previous_statistics": standard_artifacts.ExampleStatistics,
            "taken_statistics": standard_artifacts.ExampleStatistics,
            "serving_statistics": standard_artifacts.ExampleStatistics,
        },
        outputs={"anomalies": standard_artifacts.ExampleAnomalies, "distances": Distances},
        parameters={"validation": str},
    )

    def __init__(
        self,
        statistics: types.BaseChannel,
        schema: types.BaseChannel,
        validation: Validation,
        **channels: types.BaseChannel | None,
    ) -> None:
        super().__init__(statistics=statistics, schema=schema, validation=validation.to_json(), **channels)
