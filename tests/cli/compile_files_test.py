"""The file that `firth compile` writes, as the clients of the orchestrators read it, and what it names."""

import json

import pytest
import yaml

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")

from tests.cli.compile_test import KUBEFLOW, VERTEX


def test_the_file_for_kubeflow_ends_as_its_client_asks(firth, tmp_path):
    """The client, kfp, reads no other endings; https://pypi.org/project/kfp/ 2.17.3 was tried."""
    result = firth("compile", "bert_tiny", *KUBEFLOW)
    assert result.exit_code == 0, result.output
    assert "--package-file pipeline.yaml" in result.stdout
    text = (tmp_path / "pipeline.yaml").read_text()
    assert yaml.safe_load(text) == json.loads(text)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((*KUBEFLOW, "-o", "a.json"), "--output a.json: a file for Kubeflow Pipelines ends in .yaml or .yml"),
        ((*VERTEX, "-o", "."), "--output .: a file for Vertex AI Pipelines ends in .json"),
        ((*VERTEX, "--image", ""), "--image '': name the image"),
        ((*VERTEX, "--image", "me/firth 1"), "--image 'me/firth 1': name the image"),
        ((*VERTEX, "--resources", "Trainer:count=2"), "count is a number of accelerators"),
    ],
)
def test_wrong_usage(firth, arguments, problem):
    result = firth("compile", "bert_tiny", *arguments)
    assert result.exit_code == 2 and problem in result.stderr


def test_a_command_with_emoji_is_read_as_yaml(firth, tmp_path):
    """Vertex's client reads the file as YAML, in which the escapes of JSON stand for halves of characters."""
    command = "echo 'done \N{GRINNING FACE}'"
    assert firth("compile", "bert_tiny", *VERTEX, "--on-exit", command).exit_code == 0
    job = yaml.safe_load((tmp_path / "pipeline.json").read_text(encoding="utf-8"))
    handler = job["pipelineSpec"]["root"]["dag"]["tasks"]["ExitHandler"]
    assert handler["inputs"]["parameters"]["command"]["runtimeValue"]["constant"] == command


def test_files_of_this_machine_are_named(firth, tmp_path):
    sources = "sources=[{kind: text, paths: [texts/*.txt]}, {kind: jsonl, paths: ['gs://b/*.jsonl']}]"
    result = firth("compile", "bert_tiny", *VERTEX, "--set", sources)
    assert result.exit_code == 0, result.output
    assert "the image must have files that the recipe names on this machine" in result.stderr
    assert f"sources.0.paths.0: {tmp_path}/texts/*.txt" in result.stderr and "gs://b" not in result.stderr
