"""Every pipeline compiles for every orchestrator. Nothing runs here; `entry_point_test.py` runs the tasks."""

import copy
import itertools
import json

import pytest

from firth.recipes import load_recipe
from tests.repeating import often

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")

from firth.pipelines.orchestrators.compiling import Settings, compile_pipeline
from firth.pipelines.orchestrators.run_time import PIPELINES, READER
from firth.pipelines.orchestrators.targets import ORCHESTRATORS, read_resources
from tests.pipelines.orchestrators.graph_checks import problems_of, read_document
from tests.pipelines.orchestrators.recipes import recipe_for

ROOTS = {"vertex": "gs://no-bucket/root", "kubeflow": "s3://no-bucket/root"}


def settings(kind, orchestrator, **others):
    return Settings(kind, orchestrator, "me/firth:1", ROOTS[orchestrator], **others)


@pytest.fixture(scope="module")
def bert_mini():
    # Where it is compiled, there is none of its files.
    recipe = load_recipe("bert_mini", ["sources=[{kind: text, paths: [/no/such/*.txt]}]", "name=Bert_v1"])
    return compile_pipeline(recipe, settings("pretrain", "vertex"))


@pytest.mark.parametrize(
    ("kind", "orchestrator"),
    often(
        itertools.product(PIPELINES, ORCHESTRATORS),
        [("pretrain", "vertex"), ("finetune", "kubeflow"), ("curate", "vertex")],
    ),
)
def test_inputs_are_resolved_in_order_and_types_have_schemas(kind, orchestrator, tmp_path):
    document = compile_pipeline(recipe_for(kind, tmp_path), settings(kind, orchestrator))
    spec, deployment = read_document(document)
    assert problems_of(spec, deployment) == []
    assert spec.schema_version == "2.1.0"
    assert set(spec.root.input_definitions.parameters) == set(PIPELINES[kind].parameters)
    resolvers = [name for name, each in deployment.executors.items() if each.HasField("resolver")]
    # Kubeflow's compiler to Argo refuses them.
    expected = 2 if ORCHESTRATORS[orchestrator].has_resolvers and PIPELINES[kind].compares else 0
    assert len(resolvers) == expected


RATES = "{training.optimizer.learning_rate: {kind: choices, values: [1.0e-3, 1.0e-2]}}"
CHOICES = {
    "search": ("finetune", [f"search={{algorithm: grid, space: {RATES}}}"], {"Tuner"}),
    "predictions": (
        "finetune",
        ["predictions.input=/no/such/new.jsonl"],
        {"BulkInferrer", "PredictionExporter"},
    ),
    "skew": (
        "finetune",
        ["validation={skew: {text/words: 0.2}, requests: /no/such/asked.jsonl}"],
        {"RequestExampleGen", "DistributionValidator"},
    ),
    "outputs": ("curate", ["outputs=[{kind: jsonl}]"], {"CorpusExporter"}),
}


@pytest.mark.parametrize(
    ("choice", "orchestrator"),
    often(itertools.product(CHOICES, ORCHESTRATORS), [*zip(CHOICES, itertools.cycle(ORCHESTRATORS))]),
)
def test_parts_that_a_recipe_may_ask_for_compile_too(choice, orchestrator, tmp_path):
    kind, overrides, tasks = CHOICES[choice]
    recipe = recipe_for(kind, tmp_path, *overrides)
    spec, deployment = read_document(compile_pipeline(recipe, settings(kind, orchestrator)))
    assert problems_of(spec, deployment) == []
    assert tasks <= set(spec.root.dag.tasks)


def test_a_warm_start_takes_the_latest_blessed_model_where_it_can_be_looked_up():
    recipe = load_recipe("bert_tiny", ["warm_start=true"])
    spec, deployment = read_document(compile_pipeline(recipe, settings("pretrain", "vertex")))
    assert problems_of(spec, deployment) == []
    for task, key in (("Trainer", "base_model"), ("TokenizerGen", "base")):
        taken = spec.root.dag.tasks[task].inputs.artifacts[key].task_output_artifact
        assert taken.producer_task == "WarmStart-model-resolver"
        assert deployment.executors[f"{taken.producer_task}_executor"].HasField("resolver")
    with pytest.raises(ValueError, match=r"warm_start: .*orchestrator"):
        compile_pipeline(recipe, settings("pretrain", "kubeflow"))


def test_what_vertex_and_kubeflow_are_given(bert_mini):
    assert bert_mini["runtimeConfig"]["gcsOutputDirectory"] == ROOTS["vertex"]
    assert bert_mini["displayName"] == "Bert_v1"
    assert bert_mini["pipelineSpec"]["pipelineInfo"]["name"] == "bert-v1"
    spec = compile_pipeline(load_recipe("bert_tiny"), settings("curate", "kubeflow"))
    assert spec["defaultPipelineRoot"] == ROOTS["kubeflow"] and spec["pipelineInfo"]["name"] == "bert-tiny"


def test_tasks_take_their_values_from_the_recipe_of_the_run(bert_mini):
    tasks = bert_mini["pipelineSpec"]["root"]["dag"]["tasks"]
    trainer = tasks["Trainer"]["inputs"]["parameters"]["custom_config"]
    assert trainer == {
        "taskOutputParameter": {"producerTask": READER, "outputParameterKey": "Trainer_custom_config"}
    }
    assert "cachingOptions" not in tasks[READER]
    assert tasks["Trainer"]["cachingOptions"] == {"enableCache": True}


def test_the_cache_and_the_resources_are_as_they_are_asked_for():
    resources = read_resources(["cpu=2", "Trainer:cpu=8,memory=32,accelerator=NVIDIA_L4,count=2"])
    spec = compile_pipeline(
        load_recipe("bert_tiny"), settings("pretrain", "kubeflow", enable_cache=False), resources
    )
    _, deployment = read_document(spec)
    trainer = deployment.executors["Trainer_executor"].container.resources
    assert (trainer.cpu_limit, trainer.memory_limit) == (8.0, 32.0)
    assert (trainer.accelerator.type, trainer.accelerator.count) == ("NVIDIA_L4", 2)
    assert deployment.executors["Curator_executor"].container.resources.cpu_limit == 2.0
    assert not any("cachingOptions" in task for task in spec["root"]["dag"]["tasks"].values())


def test_resources_of_no_task_are_refused():
    with pytest.raises(ValueError, match=r"--resources Triner: .*Trainer"):
        compile_pipeline(
            load_recipe("bert_tiny"), settings("pretrain", "vertex"), read_resources(["Triner:cpu=8"])
        )


def inputs(spec, task):
    return spec["root"]["dag"]["tasks"][task]["inputs"]


def _without_a_value(spec):
    del inputs(spec, "Curator")["parameters"]["cleaning"]


def _without_an_artifact(spec):
    del inputs(spec, "Curator")["artifacts"]["documents"]


def _of_no_output(spec):
    inputs(spec, "Curator")["artifacts"]["documents"]["taskOutputArtifact"]["outputArtifactKey"] = "texts"


def _of_another_type(spec):
    inputs(spec, "Curator")["parameters"]["cleaning"]["taskOutputParameter"]["outputParameterKey"] = (
        "SequenceGen_row_format"
    )


def _without_waiting(spec):
    spec["root"]["dag"]["tasks"]["Curator"]["dependentTasks"].remove(READER)


def _in_a_circle(spec):
    spec["root"]["dag"]["tasks"]["CorpusExampleGen"]["dependentTasks"].append("Curator")


def _of_no_class(spec):
    made = spec["components"]["TokenizerGen"]["outputDefinitions"]["artifacts"]["tokenizer"]["artifactType"]
    made["instanceSchema"] = made["instanceSchema"].replace("firth.Tokenizer", "firth.Tokeniser")


def _without_an_executor(spec):
    del spec["deploymentSpec"]["executors"]["Curator_executor"]


def _of_no_parameter(spec):
    del spec["root"]["inputDefinitions"]["parameters"]["steps"]


PROBLEMS = {
    _without_a_value: "Curator: cleaning has no value",
    _without_an_artifact: "Curator: documents has no artifact",
    _of_no_output: "Curator: documents: CorpusExampleGen has no output texts",
    _of_another_type: "Curator: cleaning: RecipeReader gives another type",
    _without_waiting: "Curator: cleaning: it does not wait for RecipeReader",
    _in_a_circle: "cycle: ",
    _of_no_class: "TokenizerGen: no class is found for firth.Tokeniser",
    _without_an_executor: "Curator: nothing executes it",
    _of_no_parameter: "RecipeReader: steps: the pipeline has no parameter steps",
}


@pytest.mark.parametrize(("break_it", "problem"), often(PROBLEMS.items(), [*PROBLEMS.items()][:2]))
def test_the_checks_themselves_notice(bert_mini, break_it, problem):
    broken = copy.deepcopy(bert_mini)
    break_it(broken["pipelineSpec"])
    assert any(each.startswith(problem) for each in problems_of(*read_document(broken)))


def test_an_unknown_key_is_not_read(bert_mini):
    broken = copy.deepcopy(bert_mini)
    broken["pipelineSpec"]["root"]["dag"]["tusks"] = {}
    with pytest.raises(Exception, match="tusks"):
        read_document(broken)


@pytest.mark.repeated
def test_vertex_reads_it_by_its_own_client(bert_mini, tmp_path, monkeypatch):
    """Nothing is sent: the client makes its request of the file and of a run's parameters."""
    aiplatform = pytest.importorskip("google.cloud.aiplatform", reason="Vertex's client is not installed")
    from google.auth.credentials import AnonymousCredentials

    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "none")
    path = tmp_path / "pipeline.json"
    path.write_text(json.dumps(bert_mini))

    def request(**parameters):
        settings = {"project": "none", "location": "us-central1", "credentials": AnonymousCredentials()}
        return aiplatform.PipelineJob("a", str(path), parameter_values=parameters, **settings).to_dict()

    config = request(steps=5)["runtimeConfig"]
    assert config == {"parameterValues": {"steps": 5.0}, "gcsOutputDirectory": ROOTS["vertex"]}
    with pytest.raises(ValueError, match=r"step .*not found"):
        request(step=5)
