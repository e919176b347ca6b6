"""Why a model is not blessed, read from the folders that the components leave."""

import json

from firth.pipelines.results import newest_version, reasons_against


def serving_report(tmp_path, reasons):
    (tmp_path / "serving_report.json").write_text(json.dumps({"reasons": reasons}))
    return {"report": tmp_path}


def test_each_failed_request_is_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr("firth.evaluation.load_thresholds", lambda uri: [], raising=False)
    (tmp_path / "BLESSED").touch()
    evaluator = {"evaluation": tmp_path, "blessing": tmp_path}
    failed = ["embed, one: embedding is not finite", "evaluate, no row: was answered"]
    outputs = {"Evaluator": evaluator, "ServingValidator": serving_report(tmp_path, failed)}
    assert reasons_against(outputs) == tuple(f"the serving validation: {reason}" for reason in failed)
    assert reasons_against({**outputs, "ServingValidator": serving_report(tmp_path, [])}) == ()


def test_what_did_not_run_is_a_reason():
    assert reasons_against({}) == ("it was not evaluated", "it was not tried as a server would ask it")


def test_the_newest_version_is_the_highest_number_that_is_whole(tmp_path):
    for name in ("9", "10", "partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "saved_model.pb").touch()
    (tmp_path / "11").mkdir()
    assert newest_version(tmp_path) == tmp_path / "10"
    assert newest_version(tmp_path / "nothing") is None
