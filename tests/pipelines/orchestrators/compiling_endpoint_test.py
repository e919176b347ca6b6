"""Vertex's own Pusher in a compiled pipeline, and what it would ask of Vertex's client. Nothing is sent."""

import importlib.util
import inspect
import types

import pytest

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")
# Importing the client takes seconds, of each worker.
if importlib.util.find_spec("google.cloud.aiplatform") is None:
    pytest.skip("Vertex's client is not installed", allow_module_level=True)

from tfx.types import standard_artifacts

from firth.pipelines.orchestrators.compiling import Settings, compile_pipeline, read_endpoint
from firth.pipelines.orchestrators.read_recipe import values_of_run
from firth.pipelines.orchestrators.run_time import COMPILED, READER
from firth.recipes import load_recipe
from tests.pipelines.orchestrators.graph_checks import problems_of, read_document
from tests.pipelines.orchestrators.recipes import recipe_for

LINE = (
    "project=mine,region=us-central1,name=bert,image=my-server:1,machine=n1-standard-4,"
    "accelerator=NVIDIA_TESLA_T4,count=2,replicas=2,max_replicas=5,traffic=20"
)


def compiled(recipe, kind="pretrain", line=LINE):
    settings = Settings(kind, "vertex", "me/firth:1", "gs://no-bucket/root", endpoint=line)
    return compile_pipeline(recipe, settings)


@pytest.mark.parametrize("kind", ["pretrain", "finetune"])
def test_the_pusher_is_vertex_s_and_the_others_stay(kind, tmp_path):
    recipe = recipe_for(kind, tmp_path)
    spec, deployment = read_document(compiled(recipe, kind))
    _, others = read_document(compiled(recipe, kind, line=""))
    assert problems_of(spec, deployment) == []
    arguments = deployment.executors["Pusher_executor"].container.args
    assert "google_cloud_ai_platform.pusher.executor.Executor" in " ".join(arguments)
    changed = [name for name, each in deployment.executors.items() if each != others.executors[name]]
    assert changed == ["Pusher_executor"]
    pusher = spec.root.dag.tasks["Pusher"].inputs
    assert set(pusher.artifacts) == {"model", "model_blessing", "infra_blessing"}


class Vertex:
    """Keeps TFX's calls of `google.cloud.aiplatform` instead of sending them."""

    def __init__(self):
        self.asked = []
        endpoint = types.SimpleNamespace(resource_name="endpoints/1")
        self.Endpoint = types.SimpleNamespace(list=self._listed, create=self._keep("create", endpoint))
        model = types.SimpleNamespace(resource_name="models/1", wait=lambda: None)
        model.deploy = self._keep("deploy", None)
        self.Model = types.SimpleNamespace(upload=self._keep("upload", model))
        self.init = self._keep("init", None)

    def _listed(self, filter):
        made = any(name == "create" for name, _ in self.asked)
        return [types.SimpleNamespace(resource_name="endpoints/1")] if made else []

    def _keep(self, name, answer):
        def ask(**given):
            self.asked.append((name, given))
            return answer

        return ask


@pytest.fixture
def push(tmp_path, monkeypatch):
    """Runs the task's executor with the values of a run; returns its calls, and the artifact."""
    from tfx.extensions.google_cloud_ai_platform import prediction_clients
    from tfx.extensions.google_cloud_ai_platform.pusher.executor import Executor

    (tmp_path / "a.txt").write_text("A word.\n")
    recipe = load_recipe("bert_tiny", [f"sources=[{{kind: text, paths: ['{tmp_path}/*.txt']}}]"])

    def push(is_blessed):
        vertex = Vertex()
        monkeypatch.setattr(prediction_clients, "aiplatform", vertex)
        document = compiled(recipe)["pipelineSpec"]
        given = document["root"]["dag"]["tasks"][READER]["inputs"]["parameters"][COMPILED]
        values = values_of_run({COMPILED: given["runtimeValue"]["constant"]})
        config = values["Pusher_custom_config"]
        (tmp_path / "model" / "Format-Serving").mkdir(parents=True, exist_ok=True)
        (tmp_path / "model" / "Format-Serving" / "saved_model.pb").write_bytes(b"a model")
        model, pushed = standard_artifacts.Model(), standard_artifacts.PushedModel()
        model.uri, pushed.uri = str(tmp_path / "model"), str(tmp_path / f"pushed-{is_blessed}")
        blessing, infra = standard_artifacts.ModelBlessing(), standard_artifacts.InfraBlessing()
        for each, kind in ((blessing, ""), (infra, "INFRA_")):
            each.uri = str(tmp_path / f"{kind}{is_blessed}")
            (tmp_path / f"{kind}{is_blessed}").mkdir()
            name = f"{kind}{'BLESSED' if is_blessed else 'NOT_BLESSED'}"
            (tmp_path / f"{kind}{is_blessed}" / name).touch()
        blessing.set_int_custom_property("blessed", int(is_blessed))
        infra.set_int_custom_property("blessed", int(is_blessed))
        inputs = {"model": [model], "model_blessing": [blessing], "infra_blessing": [infra]}
        Executor().Do(inputs, {"pushed_model": [pushed]}, {"custom_config": config})
        return vertex.asked, pushed

    return push


def test_a_blessed_model_is_uploaded_and_deployed(push, tmp_path):
    from google.cloud import aiplatform

    asked, pushed = push(is_blessed=True)
    assert [name for name, _ in asked] == ["init", "create", "upload", "deploy"]
    asked = dict(asked)
    assert asked["init"] == {"project": "mine", "location": "us-central1"}
    assert asked["create"]["display_name"] == "bert"
    assert asked["upload"]["serving_container_image_uri"] == "my-server:1"
    assert asked["upload"]["artifact_uri"] == pushed.uri
    assert (tmp_path / "pushed-True" / "saved_model.pb").read_bytes() == b"a model"
    machines = {key: value for key, value in asked["deploy"].items() if key != "endpoint"}
    assert machines == {
        "machine_type": "n1-standard-4",
        "accelerator_type": "NVIDIA_TESLA_T4",
        "accelerator_count": 2,
        "min_replica_count": 2,
        "max_replica_count": 5,
        "traffic_percentage": 20,
    }
    # The stand-in takes any name, and the client those of its own.
    assert set(asked["deploy"]) <= set(inspect.signature(aiplatform.Model.deploy).parameters)
    # As the report reads it.
    assert pushed.get_int_custom_property("pushed") == 1
    assert pushed.get_string_custom_property("pushed_destination") == "models/1"


def test_a_model_that_is_not_blessed_is_not_deployed(push):
    asked, pushed = push(is_blessed=False)
    assert asked == [] and pushed.get_int_custom_property("pushed") == 0


def test_an_endpoint_has_one_machine_where_nothing_else_is_said():
    endpoint = read_endpoint("project=mine,region=us-central1,name=bert,image=a/b:1,machine=n1-standard-4")
    assert endpoint.serving_arguments() == {
        "project": "mine",
        "endpoint_name": "bert",
        "machine_type": "n1-standard-4",
        "min_replica_count": 1,
        "max_replica_count": 1,
        "traffic_percentage": 100,
    }


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"{LINE},machines=2", "--endpoint .*: unknown key 'machines'; did you mean machine"),
        ("project=mine,region=us-central1,machine=n1-standard-4", "there is no image and no name"),
        (LINE.replace("traffic=20", "traffic=101"), "traffic at most 100"),
        (LINE.replace("max_replicas=5", "max_replicas=1"), r"max_replicas is at least replicas \(2\)"),
        (f"{LINE},max_replicas=1", "max_replicas is there twice"),
    ],
)
def test_other_lines_are_refused(line, problem):
    with pytest.raises(ValueError, match=problem):
        read_endpoint(line)
