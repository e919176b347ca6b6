"""Records without labels in a file, asked by TFX's BulkInferrer, as lines of JSON."""

import json
import pathlib

import pytest
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2
from tfx.components import BulkInferrer
from tfx.proto import bulk_inferrer_pb2
from tfx.types import channel_utils, standard_artifacts

from firth.components import PredictionExporter, RequestExampleGen
from firth.components.records import prediction_exporter as executor
from firth.models import build_model
from firth.recipes.tasks.classification import Classification
from firth.serving import Client
from firth.serving.batch.prediction import predict_file
from firth.serving.saved_model import PREDICT_EXAMPLES, export
from firth.tasks.labelled.examples import ID
from firth.tokenizers import WordPieceTokenizer
from tests.components.components_corpus_test import run
from tests.exported_model import VOCABULARY
from tests.reports.task_pages.records import adapting_recipe

LINES = [
    {"text": "the cat sat .", "pair": "the mat"},
    {"text": "no pair"},
    {"text": "it keeps", "pair": "of"},
]

DESCRIBED = {
    "recipe": {"task": Classification(labels=("no", "yes")).model_dump(mode="json")},
    "signatures": {"classify": {"inputs": {"text": {}}, "outputs": {"label": {"shape": [None]}}}},
}


def log_of(number: int, text: str, label: str) -> bytes:
    """A log of BulkInferrer: the record of a line, and the model's answer to it."""
    values = {"text": text.encode(), ID: str(number).encode()}
    features = {
        name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[value])) for name, value in values.items()
    }
    record = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    log = prediction_log_pb2.PredictionLog()
    log.predict_log.request.inputs["examples"].CopyFrom(tf.make_tensor_proto([record]))
    log.predict_log.response.outputs["label"].CopyFrom(tf.make_tensor_proto([[label]]))
    return log.SerializeToString()


def test_lines_are_written_in_the_order_of_the_records(tmp_path, monkeypatch):
    monkeypatch.setattr(executor, "read_description", lambda folder: DESCRIBED)
    artifacts = {
        "model": standard_artifacts.Model(),
        "inference_result": standard_artifacts.InferenceResult(),
        "examples": standard_artifacts.Examples(),
        "predictions": standard_artifacts.InferenceResult(),
    }
    for name, artifact in artifacts.items():
        artifact.uri = str(tmp_path / name)
        (tmp_path / name).mkdir()
    with tf.io.TFRecordWriter(str(tmp_path / "inference_result" / "logs")) as file:
        for log in (log_of(3, "it keeps", "yes"), log_of(1, "the cat", "no")):
            file.write(log)
    (tmp_path / "examples" / "report.json").write_text('{"read": 2}')
    given = {name: [artifact] for name, artifact in artifacts.items()}
    executor.Executor().Do(given, {"predictions": [artifacts["predictions"]]}, {})
    lines = (tmp_path / "predictions" / "predictions.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"line": 1, "text": "the cat", "label": "no"},
        {"line": 3, "text": "it keeps", "label": "yes"},
    ]
    assert json.loads((tmp_path / "predictions" / "report.json").read_text()) == {"read": 2, "predicted": 2}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    artifact = standard_artifacts.Model()
    artifact.uri = str(tmp_path_factory.mktemp("exported"))
    recipe = adapting_recipe(task=Classification(labels=("no", "yes"), pair=True))
    export(
        build_model(recipe), WordPieceTokenizer(VOCABULARY), recipe, None, f"{artifact.uri}/Format-Serving"
    )
    return artifact


@pytest.mark.repeated
def test_predictions_are_those_of_the_command(tmp_path, model):
    source = tmp_path / "new.jsonl"
    source.write_text("".join(json.dumps(each) + "\n" for each in LINES))
    channel = channel_utils.as_channel([model])
    given = {"model": model}
    examples = run(RequestExampleGen(str(source), {}, "1", channel), given, tmp_path / "examples")["examples"]
    inferrer = BulkInferrer(
        examples=channel_utils.as_channel([examples]),
        model=channel,
        model_spec=bulk_inferrer_pb2.ModelSpec(model_signature_name=[PREDICT_EXAMPLES]),
    )
    result = run(inferrer, {**given, "examples": examples}, tmp_path / "logs")["inference_result"]
    given |= {"examples": examples, "inference_result": result}
    channels = {name: channel_utils.as_channel([each]) for name, each in given.items()}
    folder = run(PredictionExporter(**channels), given, tmp_path / "lines")["predictions"].uri

    found = [json.loads(line) for line in pathlib.Path(folder, "predictions.jsonl").read_text().splitlines()]
    asked = tmp_path / "asked.jsonl"
    predict_file(Client(f"{model.uri}/Format-Serving"), "classify_pair", source, asked)
    expected = [json.loads(line) for line in asked.read_text().splitlines()]
    assert [each["line"] for each in found] == [1, 3] and len(expected) == 2
    for each, other in zip(found, expected, strict=True):
        assert each.keys() == other.keys() and each["label"] == other["label"]
        assert each["probabilities"] == pytest.approx(other["probabilities"], abs=1e-5)
    report = json.loads(pathlib.Path(folder, "report.json").read_text())
    assert report["predicted"] == report["read"] == 2 and sum(report["unread"].values()) == 1
