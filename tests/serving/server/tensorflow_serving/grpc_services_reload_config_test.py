"""Configurations of models that are changed while a server runs, as TF Serving's ModelService takes them."""

import shutil

import pytest
from google.protobuf import text_format
from tensorflow_serving.config import model_server_config_pb2

from firth.serving.server.errors import RequestError
from firth.serving.server.models import Models
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from firth.serving.server.tensorflow_serving.grpc_services import reload_config
from tests.serving.server.tensorflow_serving.half_plus_two import write_half_plus_two


@pytest.fixture(scope="module")
def models(made_once, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "half"
    shutil.copytree(made_once("half_plus_two", write_half_plus_two), folder)
    shutil.copytree(folder / "123", folder / "124")
    models = Models([ModelSource("half", str(folder), versions=(123,))], ServerSettings())
    yield models
    models.close()


def _ask(models, model):
    text = f"model_config_list {{ config {{ {model} }} }}"
    reload_config(models, text_format.Parse(text, model_server_config_pb2.ModelServerConfig()))


def _states(models):
    return {each.version: each.state for each in models.status("half")}


def test_versions_and_labels_are_changed(models):
    assert _states(models) == {123: "AVAILABLE"}
    _ask(models, 'name: "half" model_version_policy { all {} } version_labels { key: "stable" value: 123 }')
    assert _states(models) == {123: "AVAILABLE", 124: "AVAILABLE"}
    with models.lease("half", label="stable") as version:
        assert version.version == 123
    _ask(models, 'name: "half" version_labels { key: "canary" value: 124 }')
    assert _states(models) == {123: "END", 124: "AVAILABLE"}
    with pytest.raises(RequestError, match=r"stable; .*canary"):
        models.lease("half", label="stable").__enter__()
    folder = models.sources[0].path
    policy = "model_version_policy { specific { versions: 123 versions: 124 } }"
    _ask(models, f'name: "half" base_path: "{folder}/" model_platform: "tensorflow" {policy}')
    assert _states(models) == {123: "AVAILABLE", 124: "AVAILABLE"}


# A refused configuration: its text, the status of HTTP and what the error names.
REFUSED = {
    "an unknown model": ('name: "hal"', 404, "mean half"),
    "another folder": ('name: "half" base_path: "/etc"', 400, "base_path /etc"),
    "another platform": ('name: "half" model_platform: "other"', 400, "model_platform other"),
    "a label of no version": (
        'name: "half" version_labels { key: "a" value: 9 }',
        412,
        "label a is of version 9",
    ),
    "no version": ('name: "half" model_version_policy { specific { versions: 9 } }', 404, "no version 9"),
    "no versions": ('name: "half" model_version_policy { specific {} }', 400, "specific"),
    "a model twice": ('name: "half" } config { name: "half"', 400, "half is named twice"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_configuration_is_refused_and_changes_nothing(case, models):
    text, status, named = REFUSED[case]
    before = _states(models), models.sources
    with pytest.raises(RequestError, match=named) as error:
        _ask(models, text)
    assert error.value.status == status
    assert (_states(models), models.sources) == before


def test_only_a_list_of_models_is_a_configuration(models):
    with pytest.raises(RequestError, match="model_config_list"):
        reload_config(models, model_server_config_pb2.ModelServerConfig())
