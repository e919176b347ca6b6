"""Vertex's own Trainer in a compiled pipeline, and the job that it would ask for. Nothing is sent."""

import importlib.util
import json

import pytest

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")
# Importing the client takes seconds, of each worker.
if importlib.util.find_spec("google.cloud.aiplatform") is None:
    pytest.skip("Vertex's client is not installed", allow_module_level=True)

from firth.pipelines.orchestrators.compiling import Settings, compile_pipeline, read_training_job
from firth.pipelines.orchestrators.read_recipe import values_of_run
from firth.pipelines.orchestrators.run_time import COMPILED, READER
from firth.pipelines.trained_model import RUN_FN
from firth.recipes import load_recipe
from tests.pipelines.orchestrators.graph_checks import problems_of, read_document

LINE = "project=mine,region=us-central1,machine=n1-standard-8,accelerator=NVIDIA_TESLA_T4,count=2,workers=3"
TOGETHER = "training.strategy=multi_worker_mirrored"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "a.txt").write_text("A word.\n")
    return load_recipe("bert_tiny", [f"sources=[{{kind: text, paths: ['{folder}/*.txt']}}]", TOGETHER])


def settings(line=LINE):
    return Settings("pretrain", "vertex", "me/firth:1", "gs://no-bucket/root", training_job=line)


def test_the_trainer_is_vertex_s_and_the_others_stay(corpus):
    spec, deployment = read_document(compile_pipeline(corpus, settings()))
    plain, others = read_document(compile_pipeline(corpus, settings("")))
    assert problems_of(spec, deployment) == []
    assert set(spec.root.dag.tasks) == set(plain.root.dag.tasks)
    arguments = deployment.executors["Trainer_executor"].container.args
    assert "google_cloud_ai_platform.trainer.executor.GenericExecutor" in " ".join(arguments)
    changed = [name for name, each in deployment.executors.items() if each != others.executors[name]]
    assert changed == ["Trainer_executor"]


def test_the_job_has_a_chief_and_workers_that_run_what_a_task_would(corpus):
    from tfx.components.trainer.executor import GenericExecutor
    from tfx.extensions.google_cloud_ai_platform import training_clients
    from tfx.extensions.google_cloud_ai_platform.trainer.executor import TRAINING_ARGS_KEY

    document = compile_pipeline(corpus, settings())["pipelineSpec"]
    given = document["root"]["dag"]["tasks"][READER]["inputs"]["parameters"][COMPILED]
    values = values_of_run({COMPILED: given["runtimeValue"]["constant"]})
    config = json.loads(values["Trainer_custom_config"])
    assert config["ai_platform_vertex_region"] == "us-central1" and config["ai_platform_enable_vertex"]
    assert json.loads(config["recipe"])["name"] == "bert_tiny" and config["checkpoint_root"]
    client = training_clients.VertexJobClient.__new__(training_clients.VertexJobClient)
    path = f"{GenericExecutor.__module__}.{GenericExecutor.__name__}"
    properties = {"custom_config": config, "run_fn": RUN_FN}
    job = client.create_training_job({}, {}, properties, path, config[TRAINING_ARGS_KEY], None, None)
    chief, workers = job["job_spec"]["worker_pool_specs"]
    assert (chief["replica_count"], workers["replica_count"]) == (1, 2)
    for pool in (chief, workers):
        assert pool["machine_spec"] == {
            "machine_type": "n1-standard-8",
            "accelerator_type": "NVIDIA_TESLA_T4",
            "accelerator_count": 2,
        }
        assert pool["container_spec"]["image_uri"] == "me/firth:1"
        assert RUN_FN in " ".join(pool["container_spec"]["command"])


def test_workers_that_would_each_train_the_whole_model_are_refused(corpus):
    alone = load_recipe("bert_tiny")
    with pytest.raises(ValueError, match=r"3 workers .*none; .*--set"):
        compile_pipeline(alone, settings())
    compile_pipeline(alone, settings(LINE.replace(",workers=3", "")))
    # Nor may the recipe of a run be one.
    document = compile_pipeline(corpus, settings())["pipelineSpec"]
    given = document["root"]["dag"]["tasks"][READER]["inputs"]["parameters"][COMPILED]
    inputs = {COMPILED: given["runtimeValue"]["constant"], "overrides": "training.strategy=mirrored"}
    with pytest.raises(ValueError, match="mirrored"):
        values_of_run(inputs)


def test_one_machine_has_no_other_workers():
    job = read_training_job("project=mine,region=us-central1,machine=n1-standard-8")
    assert [each["replica_count"] for each in job.worker_pools("me/firth:1")] == [1]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"{LINE},worker=2", "--training-job .*: unknown key 'worker'; did you mean workers"),
        ("project=mine", "there is no machine and no region"),
        (LINE.replace("workers=3", "workers=0"), "'workers=0' is not a value"),
        (f"{LINE},workers=0", "workers is there twice"),
    ],
)
def test_other_lines_are_refused(line, problem):
    with pytest.raises(ValueError, match=problem):
        read_training_job(line)
