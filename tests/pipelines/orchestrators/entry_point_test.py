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
RECORDS = 6
TASK = f"""\
name: reviews
data: {{kind: columns, train: '{REVIEWS}'}}
task: {{kind: classification}}
epochs: 9
evaluation: {{beats_constant: false}}
search:
  algorithm: grid
  space: {{training.optimizer.weight_decay: {{kind: choices, values: [0.0, 0.1]}}}}
validation: {{skew: {{text/words: 1.0}}, requests: 's3://artifacts/asked.jsonl'}}
predictions: {{input: 's3://artifacts/new.jsonl'}}
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


def written(bucket, tasks, task, key):
    """The lines of JSON that a task has written."""
    (artifact,) = tasks.artifacts(task, key)
    root = artifact["uri"].removeprefix("s3://artifacts/")
    names = [name for name in bucket.names() if name.startswith(f"{root}/") and name.endswith(".jsonl")]
    assert names
    return [
        json.loads(line)
        for name in names
        for line in bucket.read(f"s3://artifacts/{name}").decode().splitlines()
    ]


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
def test_a_corpus_is_given_out_as_files(pretraining, bucket, environment, tmp_path):
    recipe = load_recipe("demo", [*OVERRIDES, "outputs=[{kind: jsonl, compression: none}]"])
    document = compile_pipeline(recipe, Settings("curate", "kubeflow", "me/firth:1", ROOT))
    tasks = TaskRunner(*read_document(document), ROOT, bucket, environment, tmp_path, cache=pretraining.cache)
    tasks.run()
    assert tasks.ran[:2] == [READER, "CorpusExporter"]
    report = json.loads(bucket.read(f"{ROOT}/Curator/1/report/corpus_report.json"))
    documents = written(bucket, tasks, "CorpusExporter", "corpus")
    assert len(documents) == sum(each["documents"] for each in report["splits"]) > 100


@pytest.mark.repeated
def test_tasks_of_vertex_compare_with_the_model_of_the_run_before(pretraining, bucket, environment, tmp_path):
    """Only the place of artifacts differs, since no bucket of Google is here."""
    recipe = load_recipe("demo", OVERRIDES)
    document = compile_pipeline(recipe, Settings("pretrain", "vertex", "me/firth:1", ROOT))
    assert document["runtimeConfig"]["gcsOutputDirectory"] == ROOT
    tasks = TaskRunner(
        *read_document(document),
        ROOT,
        bucket,
        environment,
        tmp_path,
        cache=pretraining.cache,
        earlier=pretraining,
    )
    tasks.run()
    assert set(tasks.outputs) == set(tasks.spec.root.dag.tasks)
    (found,) = tasks.artifacts("LatestBlessedModel-model-resolver", "model")
    assert found == pretraining.artifacts("Trainer", "model")[0]
    assert metadata(tasks, "Evaluator", "blessing")["baseline_model_id"] == found["name"]
    assert pushed_version(tasks, ROOT, bucket)


def finetuning(bucket, environment, folder):
    """The tasks of a fine-tuning, which have run; it starts from a bundle in the bucket.

    It is compiled by the command. The recipe of the run is a file in the bucket.
    """
    write_bundle(folder / "bundle", tiny_recipe())
    for path in (folder / "bundle").rglob("*"):
        if path.is_file():
            bucket.write(f"base/{path.relative_to(folder)}", path.read_bytes())
    words = ("good", "bad")
    rows = [(f"a {words[each % 2]} list number {each}", words[each % 2]) for each in range(40)]
    bucket.write("reviews.csv", "\n".join(["text,label", *map(",".join, rows)]))
    for name in ("asked", "new"):
        lines = [json.dumps({"text": f"{name}: {text}"}) for text, _ in rows[:RECORDS]]
        bucket.write(f"{name}.jsonl", "\n".join(lines))
    (folder / "task.yaml").write_text(TASK)
    options = ["--for", "kubeflow", "--image", "me/firth:1", "--pipeline-root", TASKS, "-o", "compiled.yaml"]
    command = [sys.executable, "-m", "firth", "compile", "task.yaml", "--base", "s3://artifacts/base/bundle"]
    done = subprocess.run(
        [*command, *options],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **environment, "PYTHONPATH": str(CHECKOUT)},
    )
    assert done.returncode == 0, done.stderr
    compiled = read_document(json.loads((folder / "compiled.yaml").read_text()))
    assert problems_of(*compiled) == []
    tasks = TaskRunner(*compiled, TASKS, bucket, environment, folder)
    bucket.write("task.yaml", f"{TASK}base: s3://artifacts/base/bundle\nseed: 3\n")
    tasks.run(recipe="s3://artifacts/task.yaml", epochs=1.0, learning_rate=2e-4)
    assert set(tasks.outputs) == set(tasks.spec.root.dag.tasks)
    assert pushed_version(tasks, TASKS, bucket)
    assert "task/TaskReporter/1/report/report.html" in bucket.names()
    assert not list(folder.glob("s3:*"))
    return tasks


@pytest.mark.repeated
def test_finetuning_with_all_parts_to_a_pushed_model(bucket, environment, tmp_path):
    tasks = finetuning(bucket, environment, tmp_path)
    assert {"Tuner", "DistributionValidator", "BulkInferrer", "PredictionExporter"} <= set(tasks.ran)
    recipe = json.loads(tasks.outputs[READER]["parameterValues"]["TaskReporter_recipe"])
    assert (recipe["epochs"], recipe["seed"]) == (1.0, 3)
    assert recipe["training"]["optimizer"]["learning_rate"] == 2e-4
    answered = written(bucket, tasks, "PredictionExporter", "predictions")
    assert len(answered) == RECORDS and all(each["label"] in ("good", "bad") for each in answered)
