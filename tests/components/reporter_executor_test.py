import json

import pytest
from tfx.dsl.components.common.importer import Importer
from tfx.types import standard_artifacts

from firth import storage
from firth.components import Reporter
from firth.components.artifacts import CorpusReport, MeasuredLimits, RunReport, ServingReport, Tokenizer
from firth.components.reporter import Executor
from firth.recipes import load_recipe
from tests.reports.records import corpus_report, serving_report
from tests.reports.remembered_plots import plots_drawn_once
from tests.reports.stub_model import save_stub_model

TYPES = {
    "corpus_report": CorpusReport,
    "tokenizer": Tokenizer,
    "examples": standard_artifacts.Examples,
    "model": standard_artifacts.Model,
    "model_run": standard_artifacts.ModelRun,
    "evaluation": standard_artifacts.ModelEvaluation,
    "blessing": standard_artifacts.ModelBlessing,
    "serving_report": ServingReport,
    "pushed_model": standard_artifacts.PushedModel,
}


@pytest.fixture(scope="module", autouse=True)
def _plots_once():
    """Draws a plot once for all pages that show it."""
    with plots_drawn_once({}):
        yield


@pytest.fixture
def artifacts(tmp_path):
    """Artifacts in a run's folder, `run/pipeline/<name>`; there is nothing in evaluation and examples."""
    made = {}
    for number, (name, artifact_type) in enumerate(TYPES.items(), start=1):
        folder = tmp_path / "run" / "pipeline" / name
        folder.mkdir(parents=True)
        made[name] = artifact_type()
        made[name].uri, made[name].id = str(folder), number
    run = tmp_path / "run" / "pipeline"
    (run / "corpus_report" / "corpus_report.json").write_text(json.dumps(corpus_report()))
    (run / "serving_report" / "serving_report.json").write_text(json.dumps(serving_report()))
    (run / "blessing" / "BLESSED").write_text("")
    (run / "tokenizer" / "vocab.txt").write_text("[PAD]\n[UNK]\nthe\n")
    save_stub_model(run / "model" / "Format-Serving")
    made["examples"].set_string_custom_property("tokenizer_digest", "d1ge57")
    made["pushed_model"].set_int_custom_property("pushed", 1)
    (run / "evaluation").rmdir()
    return made


def write_report(artifacts, tmp_path):
    report = RunReport()
    report.uri = str(tmp_path / "run" / "pipeline" / "report")
    properties = {"recipe": load_recipe("demo").to_json(), "run_dir": str(tmp_path / "run")}
    Executor().Do(
        {name: [artifact] for name, artifact in artifacts.items()}, {"report": [report]}, properties
    )
    return (tmp_path / "run" / "pipeline" / "report" / "report.html").read_text()


def test_the_executor_writes_the_page(artifacts, tmp_path):
    page = write_report(artifacts, tmp_path)
    assert "<title>demo: run report</title>" in page
    assert "<dt>Blessed</dt><dd>yes</dd><dd>pushed: yes</dd>" in page
    assert "rejected: too_long" in page and "1 of 1 requests passed" in page
    assert "<code>pipeline/examples</code>" in page and "of the tokenizer d1ge57" in page
    assert "firth.CorpusReport" in page and str(tmp_path) not in page


def test_shares_of_the_corpus_are_on_the_page(artifacts, tmp_path):
    shares = MeasuredLimits()
    shares.uri = str(tmp_path / "shares")
    change = {"of": "sources", "name": "whales", "share": 0.5, "before": 0.1, "change": 0.4, "most": 0.1}
    storage.write_json(tmp_path / "shares" / "shares.json", [change])
    page = write_report({**artifacts, "shares": shares}, tmp_path)
    assert "Shares since the last run" in page and "whales" in page


def test_several_artifacts_of_one_input_are_refused_by_name(artifacts, tmp_path):
    """The report of one of them would be taken for that of all."""
    other = standard_artifacts.Examples()
    other.uri = str(tmp_path / "other")
    inputs = {
        **{name: [each] for name, each in artifacts.items()},
        "examples": [artifacts["examples"], other],
    }
    report = RunReport()
    report.uri = str(tmp_path / "report")
    with pytest.raises(ValueError, match=f"examples: this input takes one artifact, and 2 .*{other.uri}"):
        Executor().Do(inputs, {"report": [report]}, {"recipe": load_recipe("demo").to_json(), "run_dir": ""})


def test_a_pipeline_without_a_pusher_is_reported_on(artifacts, tmp_path):
    del artifacts["pushed_model"]
    assert "<dd>pushed: not recorded</dd>" in write_report(artifacts, tmp_path)


def test_the_component_carries_the_recipe():
    channels = {
        name: Importer(source_uri=name, artifact_type=artifact_type).with_id(name).outputs["result"]
        for name, artifact_type in TYPES.items()
    }
    recipe = load_recipe("demo")
    component = Reporter(**channels, recipe=recipe, run_dir="/runs/demo")
    assert component.spec.exec_properties["recipe"] == recipe.to_json()
    assert component.outputs["report"].type is RunReport
    del channels["pushed_model"]
    Reporter(**channels, recipe=recipe)
