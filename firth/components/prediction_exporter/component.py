"""The declaration of PredictionExporter."""

from tfx import types
from tfx.types import standard_artifacts

from firth.components.artifacts import PredictedRecords
from firth.components.declaration import Component, declare
from firth.components.prediction_exporter.executor import Executor


class PredictionExporter(Component, executor=Executor):
    """Writes the predictions of TFX's BulkInferrer as `firth predict --input` writes answers.

    Args:
        inference_result: Output of BulkInferrer, by the signature `predict_examples`; without files where the
            model is not blessed.
        examples: Output of RequestExampleGen, which BulkInferrer read.
        model: The model.

    Outputs:
        predictions: `predictions.jsonl`, a line for each record that could be read, in the file's order, and
            `report.json`, with the counts of those that could not.
    """

    SPEC_CLASS = declare(
        inputs={
            "inference_result": standard_artifacts.InferenceResult,
            "examples": standard_artifacts.Examples,
            "model": standard_artifacts.Model,
        },
        outputs={"predictions": PredictedRecords},
    )

    def __init__(
        self, inference_result: types.BaseChannel, examples: types.BaseChannel, model: types.BaseChannel
    ) -> None:
        super().__init__(inference_result=inference_result, examples=examples, model=model)
