"""Records without labels in a file, asked by TFX's BulkInferrer, as lines of JSON."""

import json
import pathlib

import pytest
from tfx.components import BulkInferrer
from tfx.proto import bulk_inferrer_pb2
from tfx.types import channel_utils, standard_artifacts

from firth.components import PredictionExporter, RequestExampleGen
from firth.models import build_model
from firth.recipes.tasks.classification import Classification
from firth.serving import Client
from firth.serving.batch.predicting import predict_file
from firth.serving.saved_model import PREDICT_EXAMPLES, export
from firth.tokenizers import WordPieceTokenizer
from tests.analysis.tasks.records import adapting_recipe
from tests.components.components_corpus_test import run
from tests.exported_model import VOCABULARY

LINES = [
    {"text": "the cat sat .", "pair": "the mat"},
    {"text": "no pair"},
    {"text": "it keeps", "pair": "of"},
]

pytestmark = pytest.mark.repeated


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    artifact = standard_artifacts.Model()
    artifact.uri = str(tmp_path_factory.mktemp("exported"))
    recipe = adapting_recipe(task=Classification(labels=("no", "yes"), pair=True))
    export(
        build_model(recipe), WordPieceTokenizer(VOCABULARY), recipe, None, f"{artifact.uri}/Format-Serving"
    )
    return artifact


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
