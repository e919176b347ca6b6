"""TFX's InfraValidator in a pipeline, and the errors where its server cannot run."""

import pytest
from tfx.components.infra_validator import request_builder
from tfx.dsl.compiler.compiler import Compiler
from tfx.proto import infra_validator_pb2
from tfx.types import channel_utils, standard_artifacts
from tfx.utils import proto_utils

import docker
from firth.pipelines import pretrain, trained_model as infra
from firth.pipelines.orchestrators.compiling import Settings, tfx_job
from firth.recipes import load_recipe
from tests.exported_model import examples_artifact, exported_model


def recipe(folder, platform):
    (folder / "a.txt").write_text("a")
    sources = f"sources=[{{kind: text, name: plays, paths: ['{folder}/*.txt']}}]"
    return load_recipe("demo", [sources, f"infra_validation={{platform: {platform}, tags: [2.16.1]}}"])


def specs(node):
    made = {
        "serving_spec": infra_validator_pb2.ServingSpec(),
        "request_spec": infra_validator_pb2.RequestSpec(),
    }
    for name, spec in made.items():
        proto_utils.json_to_proto(node.exec_properties[name], spec)
    return made


def test_a_model_has_to_pass_before_it_is_pushed(tmp_path):
    made = pretrain.create_pipeline(recipe(tmp_path, "kubernetes"), "/no/such")
    nodes = {each.id: each for each in made.components}
    serving = specs(nodes["InfraValidator"])["serving_spec"]
    assert serving.tensorflow_serving.tags == ["2.16.1"] and serving.HasField("kubernetes")
    validator = nodes["ServingValidator"]
    assert validator.inputs["infra_blessing"].producer_component_id == "InfraValidator"
    assert nodes["Pusher"].inputs["infra_blessing"].producer_component_id == "ServingValidator"
    plain = recipe(tmp_path, "kubernetes").model_copy(update={"infra_validation": None})
    assert "InfraValidator" not in {
        each.id for each in pretrain.create_pipeline(plain, "/no/such").components
    }


def test_it_is_compiled_for_tfx_and_refused_for_kubeflow(tmp_path):
    made = pretrain.create_pipeline(recipe(tmp_path, "kubernetes"), "/no/such")
    nodes = {each.pipeline_node.node_info.id: each.pipeline_node for each in Compiler().compile(made).nodes}
    assert {"InfraValidator", "Trainer"} <= set(nodes["ServingValidator"].upstream_nodes)
    settings = Settings("pretrain", "kubeflow", "image", "gs://bucket/root")
    with pytest.raises(ValueError, match=r"InfraValidator .*Kubeflow"):
        tfx_job(recipe(tmp_path, "kubernetes"), settings)


def test_without_docker_the_pipeline_is_not_made(tmp_path, monkeypatch):
    class Absent:
        def ping(self):
            raise docker.errors.DockerException("no socket")

    monkeypatch.setattr(docker, "from_env", Absent)
    with pytest.raises(ValueError, match=r"local_docker .*Docker, .*\(no socket\)"):
        pretrain.create_pipeline(recipe(tmp_path, "local_docker"), "/no/such", metadata_path="m.sqlite")
    monkeypatch.setattr(Absent, "ping", lambda self: True)
    made = pretrain.create_pipeline(recipe(tmp_path, "local_docker"), "/no/such", metadata_path="m.sqlite")
    (node,) = [each for each in made.components if each.id == "InfraValidator"]
    assert specs(node)["serving_spec"].HasField("local_docker")


def test_tfx_makes_requests_of_held_out_rows(tmp_path):
    model = standard_artifacts.Model()
    model.uri = exported_model().directory.rpartition("/")[0]
    asked = load_recipe("demo", ["infra_validation={rows: 3}"]).infra_validation
    examples = examples_artifact(str(tmp_path))
    channels = (standard_artifacts.Model, standard_artifacts.Examples)
    node = infra.infra_validator(asked, *(channel_utils.as_channel([each()]) for each in channels))
    requests = request_builder.build_requests("model", model, examples, specs(node)["request_spec"])
    assert [each.model_spec.signature_name for each in requests] == ["evaluate"] * 3
