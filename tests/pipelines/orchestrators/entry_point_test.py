"""Every task of the compiled pipelines, run by its container's own command, with artifacts in a bucket."""

import json
import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")

from firth.pipelines.orchestrators.compiling import Settings, compile_pipeline
from firth.pipelines.orchestrators.run_time import READER
from firth.recipes import load_recipe
from tests.pipelines.bucket_server import OVERRIDES, STEPS, Bucket, serving
from tests.pipelines.orchestrators.graph_checks import problems_of, read_document
from tests.pipelines.orchestrators.task_runner import CHECKOUT, TaskRunner
from tests.training.artifacts import tiny_recipe, write_bundle

ROOT = "s3://artifacts/run"
TASKS = "s3://artifacts/task"
REVIEWS = "s3://artifacts/reviews.csv"
TASK = f"""\
name: reviews
data: {{kind: columns, train: '{REVIEWS}'}}
task: {{kind: classification}}
epochs: 9
evaluation: {{thresholds: []}}
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server") / "server.txt") as environment:
        yield environment


@pytest.fixture(scope="module")
def bucket(environment):
    return Bucket(environment["S3_ENDPOINT"])


@pytest.fixture(scope="module")
def pretraining(environment, bucket, tmp_path_factory):
    """The tasks of pre-training, which have run. The run says how long it trains, as JSON does."""
    recipe = load_recipe("demo", [*OVERRIDES, "training.steps=100000"])
    document = compile_pipeline(recipe, Settings("pretrain", "kubeflow", "me/firth:1", ROOT))
    tasks = TaskRunner(*read_document(document), ROOT, bucket, environment, tmp_path_factory.mktemp("tasks"))
    tasks.run(steps=float(STEPS))
    return tasks


def metadata(tasks, task, key):
    (artifact,) = tasks.artifacts(task, key)
    return artifact["metadata"]


def pushed_version(tasks, root, bucket):
    """The version that the last task but the report has pushed, and that is whole."""
    pushed = metadata(tasks, "Pusher", "pushed_model")
    assert pushed["pushed"] == 1
    version = re.fullmatch(rf"{root}/serving/(\d+)", pushed["pushed_destination"])[1]
    folder = root.removeprefix("s3://artifacts/")
    assert f"{folder}/serving/{version}/saved_model.pb" in bucket.names()
    return version


@pytest.mark.repeated
def test_pretraining_in_order_to_a_pushed_model(pretraining, bucket):
    tasks = pretraining
    assert set(tasks.ran) == set(tasks.spec.root.dag.tasks) and len(tasks.ran) == 17
    values = tasks.outputs[READER]["parameterValues"]
    assert json.loads(values["Trainer_train_args"]) == {"num_steps": STEPS}
    assert pushed_version(tasks, ROOT, bucket)
    curve = bucket.lines(r"run/Trainer/1/model_run/history\.jsonl")
    assert [line["step"] for line in curve] == list(range(1, STEPS + 1))
    assert len(metadata(tasks, "TokenizerGen", "tokenizer")["digest"]) > 20
    assert "run/Reporter/1/report/report.html" in bucket.names()
    # Nothing was taken for a local path.
    assert not list(tasks.folder.glob("s3:*"))


@pytest.mark.repeated
def test_curation_alone_asks_what_pretraining_has_run(pretraining, bucket, environment, tmp_path):
    """Its first task runs. All others have the commands, inputs and values of tasks that ran above."""
    recipe = load_recipe("demo", OVERRIDES)
    document = compile_pipeline(recipe, Settings("curate", "kubeflow", "me/firth:1", ROOT))
    tasks = TaskRunner(*read_document(document), ROOT, bucket, environment, tmp_path, cache=pretraining.cache)
    tasks.run()
    assert set(tasks.outputs) == set(tasks.spec.root.dag.tasks) and len(tasks.outputs) == 9
    assert tasks.ran == [READER]
    assert metadata(tasks, "Curator", "report") == metadata(pretraining, "Curator", "report")


@pytest.mark.repeated
def test_finetuning_in_order_to_a_pushed_model(bucket, environment, tmp_path):
    """It starts from a bundle in the bucket, and is compiled by the command."""
    write_bundle(tmp_path / "bundle", tiny_recipe())
    for path in (tmp_path / "bundle").rglob("*"):
        if path.is_file():
            bucket.write(f"base/{path.relative_to(tmp_path)}", path.read_bytes())
    words = ("good", "bad")
    rows = "\n".join(f"a {words[each % 2]} list number {each},{words[each % 2]}" for each in range(40))
    bucket.write("reviews.csv", f"text,label\n{rows}\n")
    (tmp_path / "task.yaml").write_text(TASK)
    options = ["--for", "kubeflow", "--image", "me/firth:1", "--pipeline-root", TASKS, "-o", "task.json"]
    command = [sys.executable, "-m", "firth", "compile", "task.yaml", "--base", "s3://artifacts/base/bundle"]
    done = subprocess.run(
        [*command, *options],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **environment, "PYTHONPATH": str(CHECKOUT)},
    )
    assert done.returncode == 0, done.stderr
    compiled = read_document(json.loads((tmp_path / "task.json").read_text()))
    assert problems_of(*compiled) == []
    tasks = TaskRunner(*compiled, TASKS, bucket, environment, tmp_path)
    # The recipe of the run is a file in the bucket, which is changed by another parameter.
    bucket.write("task.yaml", f"{TASK}base: s3://artifacts/base/bundle\nseed: 3\n")
    tasks.run(recipe="s3://artifacts/task.yaml", epochs=1.0, learning_rate=2e-4)
    assert set(tasks.outputs) == set(tasks.spec.root.dag.tasks) and len(tasks.ran) == 12
    recipe = json.loads(tasks.outputs[READER]["parameterValues"]["TaskReporter_recipe"])
    assert (recipe["epochs"], recipe["seed"]) == (1.0, 3)
    assert recipe["training"]["optimizer"]["learning_rate"] == 2e-4
    assert pushed_version(tasks, TASKS, bucket)
    assert "task/TaskReporter/1/report/report.html" in bucket.names()
    assert not list(tmp_path.glob("s3:*"))
