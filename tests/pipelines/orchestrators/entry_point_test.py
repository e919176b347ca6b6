"""Every task of a compiled pipeline, run by its container's own command, with artifacts in a bucket."""

import json
import re

import pytest

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")

from firth.pipelines.orchestrators.compiling import Settings, compile_pipeline
from firth.pipelines.orchestrators.run_time import READER
from firth.recipes import load_recipe
from tests.pipelines.bucket_server import OVERRIDES, STEPS, Bucket
from tests.pipelines.orchestrators.graph_checks import read_document
from tests.pipelines.orchestrators.task_runner import TaskRunner

ROOT = "s3://artifacts/run"


def runner_of(recipe, pipeline, bucket, environment, folder):
    document = compile_pipeline(recipe, Settings(pipeline, "kubeflow", "me/firth:1", ROOT))
    return TaskRunner(*read_document(document), ROOT, bucket, environment, folder)


@pytest.mark.repeated
def test_tasks_in_order_to_a_pushed_model(tmp_path, bucket_server):
    bucket = Bucket(bucket_server["S3_ENDPOINT"])
    recipe = load_recipe("demo", [*OVERRIDES, "training.steps=100000"])
    tasks = runner_of(recipe, "pretrain", bucket, bucket_server, tmp_path)
    # The run says how long it trains, as JSON does.
    tasks.run(steps=float(STEPS))
    assert set(tasks.outputs) == set(tasks.spec.root.dag.tasks) and len(tasks.outputs) == 17
    values = tasks.outputs[READER]["parameterValues"]
    assert json.loads(values["Trainer_train_args"]) == {"num_steps": STEPS}
    (pushed,) = tasks.artifacts("Pusher", "pushed_model")
    assert pushed["metadata"]["pushed"] == 1
    version = re.fullmatch(rf"{ROOT}/serving/(\d+)", pushed["metadata"]["pushed_destination"])[1]
    assert f"run/serving/{version}/saved_model.pb" in bucket.names()
    curve = bucket.lines(r"run/Trainer/1/model_run/history\.jsonl")
    assert [line["step"] for line in curve] == list(range(1, STEPS + 1))
    (tokenizer,) = tasks.artifacts("TokenizerGen", "tokenizer")
    assert len(tokenizer["metadata"]["digest"]) > 20
    assert "run/Reporter/1/report/report.html" in bucket.names()
    # Nothing was taken for a local path.
    assert not list(tmp_path.glob("s3:*"))
