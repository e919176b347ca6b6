"""`firth compile`, from a recipe to a file."""

import json

import pytest

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")

from tests.pipelines.orchestrators.graph_checks import problems_of, read_document
from tests.recipes.bundles import write_bundle

VERTEX = ("--for", "vertex", "--image", "me/firth:1", "--pipeline-root", "gs://bucket/root")
KUBEFLOW = ("--for", "kubeflow", "--image", "me/firth:1", "--pipeline-root", "s3://bucket/root")


def test_a_preset_for_vertex(firth, tmp_path):
    result = firth("compile", "bert_mini", *VERTEX, "--resources", "Trainer:cpu=4")
    assert result.exit_code == 0, result.output
    assert "the pipeline is called bert-mini" in result.stderr
    assert "pipeline.json: the pipeline bert-mini for Vertex AI Pipelines" in result.stdout
    assert 'template_path="pipeline.json", parameter_values={}' in result.stdout
    job = json.loads((tmp_path / "pipeline.json").read_text())
    assert problems_of(*read_document(job)) == []
    assert job["pipelineSpec"]["deploymentSpec"]["executors"]["Trainer_executor"]["container"]["resources"]


def test_a_task_for_kubeflow(firth, tmp_path):
    write_bundle(tmp_path / "base")
    (tmp_path / "task.yaml").write_text(
        "base: ./base\ntask: {kind: classification}\ndata: {kind: columns, train: s3://bucket/a.csv}\n"
    )
    result = firth("compile", "task.yaml", *KUBEFLOW, "-o", "task.yaml")
    assert result.exit_code == 0, result.output
    assert "kfp run create --experiment-name task --package-file task.yaml" in result.stdout
    assert f"base.bundle: {tmp_path}/base" in result.stderr and "s3://" not in result.stderr
    spec = json.loads((tmp_path / "task.yaml").read_text())
    assert "LabelledExampleGen" in spec["root"]["dag"]["tasks"]


def test_the_corpus_alone(firth, tmp_path):
    assert firth("compile", "bert_tiny", *KUBEFLOW, "--corpus-only").exit_code == 0
    assert "Trainer" not in json.loads((tmp_path / "pipeline.yaml").read_text())["root"]["dag"]["tasks"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("bert_tiny", *VERTEX, "--for", "vertx"), "--for vertx: no such orchestrator; did you mean vertex?"),
        (
            ("bert_tiny", *VERTEX, "--pipeline-root", "runs"),
            "'runs' is not a place for the artifacts of Vertex",
        ),
        (
            ("bert_tiny", *VERTEX, "--serving-dir", "serving"),
            "'serving' is not a place for the artifacts of Vertex",
        ),
        (
            ("bert_tiny", *VERTEX, "--corpus-only", "--serving-dir", "gs://bucket/serving"),
            "--serving-dir: --corpus-only makes no model to push",
        ),
        (
            ("bert_tiny", *VERTEX, "--endpoint", "project=a", "--serving-dir", "gs://bucket/serving"),
            "--serving-dir: --endpoint takes the model",
        ),
        (("bert_tiny", *KUBEFLOW, "--endpoint", "project=a"), "--endpoint: it is Vertex's"),
        (
            ("bert_tiny", *VERTEX, "--corpus-only", "--training-job", "project=a"),
            "--training-job: it is",
        ),
        (("bert_tiny", *VERTEX, "--endpoint", "project=a,regon=b"), "did you mean region?"),
        (("bert_tinny", *VERTEX), "did you mean bert_tiny?"),
        (("bert_tiny", *VERTEX, "--base", "minilm"), "is not a model bundle: `firth import hf "),
        (("task.yaml", *VERTEX, "--base", "minilm"), "is not a model bundle: `firth import hf "),
        (("bert_tiny", *VERTEX, "--resources", "Trainer:cpus=4"), "did you mean cpu?"),
        (("bert_tiny", *VERTEX, "--resources", "Trainr:cpu=4"), "did you mean Trainer?"),
    ],
)
def test_wrong_usage_gets_the_nearest(firth, tmp_path, arguments, problem):
    (tmp_path / "minilm").mkdir()
    (tmp_path / "minilm" / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "task.yaml").write_text("task: {kind: classification}\ndata: {kind: columns, train: a.csv}\n")
    result = firth("compile", *arguments)
    assert result.exit_code == 2 and problem in result.stderr
    assert not (tmp_path / "pipeline.json").exists()
