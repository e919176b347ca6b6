import json
import os
import shutil

import pytest
from tfx.components.pusher.executor import Executor as Pusher
from tfx.types import channel_utils, standard_artifacts

from firth.components import ServingValidator
from firth.components.artifacts import ServingReport
from firth.components.serving_validator import Executor
from tests.exported_model import examples_artifact, exported_model
from tests.forked_validation import forked_validation


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    return examples_artifact(str(tmp_path_factory.mktemp("examples")))


def run(folder, model_uri, examples=()):
    """Runs the executor; returns the report and the blessing."""
    model, report, blessing = standard_artifacts.Model(), ServingReport(), standard_artifacts.InfraBlessing()
    model.uri, report.uri, blessing.uri = model_uri, str(folder / "report"), str(folder / "blessing")
    inputs = {"model": [model]}
    if examples:
        inputs["examples"] = [examples]
    with forked_validation():
        Executor().Do(inputs, {"report": [report], "blessing": [blessing]}, {"eval_rows": 5})
    with open(os.path.join(report.uri, "serving_report.json"), encoding="utf-8") as file:
        return json.load(file), blessing


def test_a_sound_model_is_blessed_and_pusher_takes_it(tmp_path, examples):
    report, blessing = run(tmp_path, os.path.dirname(exported_model().directory), examples)
    assert report["blessed"], report["reasons"]
    assert os.listdir(blessing.uri) == ["INFRA_BLESSED"]
    assert Pusher().CheckBlessing({"infra_blessing": [blessing]})
    batches = {case["name"]: case["batch"] for case in report["signatures"]["evaluate"]["cases"]}
    assert batches["many"] == 5


def test_a_model_without_its_variables_is_not_blessed_and_pusher_refuses_it(tmp_path):
    broken = tmp_path / "model"
    shutil.copytree(exported_model().directory, broken / "Format-Serving")
    shutil.rmtree(broken / "Format-Serving" / "variables")
    report, blessing = run(tmp_path, str(broken))
    assert not report["blessed"]
    # TensorFlow's loader has no objection to it.
    assert any("variables.index is missing" in reason for reason in report["reasons"])
    assert os.listdir(blessing.uri) == ["INFRA_NOT_BLESSED"]
    assert not Pusher().CheckBlessing({"infra_blessing": [blessing]})


def test_the_component_declares_what_the_executor_reads():
    model = channel_utils.as_channel([standard_artifacts.Model()])
    component = ServingValidator(model=model)
    assert component.outputs["blessing"].type is standard_artifacts.InfraBlessing
    assert component.outputs["report"].type is ServingReport
    assert component.exec_properties == {"eval_rows": 8}
    rows = channel_utils.as_channel([standard_artifacts.Examples()])
    assert set(ServingValidator(model=model, examples=rows).inputs) == {"model", "examples"}


@pytest.mark.parametrize("passed", [1, 0])
def test_a_model_that_infra_validator_refuses_is_not_blessed(tmp_path, monkeypatch, passed):
    monkeypatch.setattr(
        "firth.components.serving_validator.validate_serving",
        lambda directory, rows: {"blessed": True, "reasons": []},
    )
    model, report, blessing = standard_artifacts.Model(), ServingReport(), standard_artifacts.InfraBlessing()
    model.uri, report.uri, blessing.uri = (str(tmp_path / name) for name in ("model", "report", "blessing"))
    before = standard_artifacts.InfraBlessing()
    before.set_int_custom_property("blessed", passed)
    Executor().Do(
        {"model": [model], "infra_blessing": [before]},
        {"report": [report], "blessing": [blessing]},
        {"eval_rows": 5},
    )
    assert blessing.get_int_custom_property("blessed") == passed
    with open(os.path.join(report.uri, "serving_report.json"), encoding="utf-8") as file:
        assert ["InfraValidator" in reason for reason in json.load(file)["reasons"]] == [True] * (1 - passed)
