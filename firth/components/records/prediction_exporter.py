"""The component PredictionExporter."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2
from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils, standard_artifacts

from firth import storage
from firth.components.artifact_folders import model_folder
from firth.components.artifacts import PredictedRecords
from firth.components.declaration import Artifacts, Component, Properties, declare, only_artifact
from firth.components.records.request_example_gen import REPORT_FILE
from firth.corpus.io.records import read_records
from firth.serving.answers import printed_fields
from firth.serving.batch.prediction import task_signature
from firth.serving.batch.texts import TEXT
from firth.serving.exported_model import read_description
from firth.serving.signature_client import plain
from firth.tasks.labelled.examples import ID

PREDICTIONS_FILE = "predictions.jsonl"


class Executor(base_executor.BaseExecutor):
    """Writes the predictions of one run."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `predictions.jsonl` and `report.json`."""
        model = only_artifact(input_dict, "model")
        described = read_description(model_folder(model))
        signature = described["signatures"][task_signature(described)]
        logs = os.path.join(only_artifact(input_dict, "inference_result").uri, "*")
        lines = dict(_line(log, signature) for log in _logs(logs))
        folder = artifact_utils.get_single_uri(output_dict["predictions"])
        with storage.whole_file(os.path.join(folder, PREDICTIONS_FILE), "w") as file:
            for number in sorted(lines):
                file.write(json.dumps(lines[number], ensure_ascii=False) + "\n")
        examples = only_artifact(input_dict, "examples").uri
        report = storage.read_json(os.path.join(examples, REPORT_FILE))
        storage.write_json(os.path.join(folder, REPORT_FILE), {**report, "predicted": len(lines)})


def _logs(pattern: str) -> Iterator[prediction_log_pb2.PredictionLog]:
    for path in storage.glob(pattern):
        yield from map(prediction_log_pb2.PredictionLog.FromString, read_records(path))


def _line(log: prediction_log_pb2.PredictionLog, signature: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Returns the number of a record's line, and the object that is written."""
    (asked,) = log.predict_log.request.inputs.values()
    features = tf.train.Example.FromString(asked.string_val[0]).features.feature
    lists = signature.get("lists", ())
    # Words that the model split off a text are among the answers, next to the text.
    asked_by = [*signature["inputs"], *([TEXT] if signature.get("texts_by") else [])]
    texts = {name: _text(features[name], name in lists) for name in asked_by if name in features}
    outputs = {
        name: _value(tensor, signature["outputs"][name])
        for name, tensor in log.predict_log.response.outputs.items()
    }
    number = int(features[ID].bytes_list.value[0])
    return number, {"line": number, **texts, **printed_fields(signature.get("answer", {}), outputs)}


def _text(feature: Any, is_list: bool) -> str | list[str]:
    values = [value.decode() for value in feature.bytes_list.value]
    return values if is_list else values[0]


def _value(tensor: Any, described: Mapping[str, Any]) -> Any:
    # A batch of one record.
    (value,) = plain(tf.make_ndarray(tensor))
    # `predict_examples` gives a list of one for a single value a record.
    return value[0] if len(described["shape"]) == 1 else value


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
