"""The last task of a compiled pipeline, which runs however the others end."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")

from firth.pipelines.orchestrators.compiling import Settings, compile_pipeline
from firth.pipelines.orchestrators.on_exit import COMMAND, HANDLER, STATUS, WHOLE, variables_of
from firth.recipes import load_recipe
from tests.pipelines.orchestrators.graph_checks import problems_of, read_document
from tests.pipelines.orchestrators.task_runner import CHECKOUT

TELL = 'echo "$FIRTH_STATE: $FIRTH_ERROR ($FIRTH_JOB)" > told.txt; exit 3'
STATE = {"state": "FAILED", "error": {"message": "no rows"}, "pipelineJobResourceName": "jobs/1"}


def compiled(orchestrator, root, **more):
    return compile_pipeline(
        load_recipe("bert_tiny"), Settings("curate", orchestrator, "me/firth:1", root), **more
    )


@pytest.mark.parametrize(("orchestrator", "root"), [("vertex", "gs://a/b"), ("kubeflow", "s3://a/b")])
def test_all_tasks_are_one_and_the_handler_waits_for_its_end(orchestrator, root):
    spec, deployment = read_document(compiled(orchestrator, root, on_exit=TELL))
    plain, _ = read_document(compiled(orchestrator, root))
    assert set(spec.root.dag.tasks) == {WHOLE, HANDLER}
    whole, handler = spec.root.dag.tasks[WHOLE], spec.root.dag.tasks[HANDLER]
    inner = spec.components[WHOLE]
    assert inner.dag == plain.root.dag
    assert dict(inner.input_definitions.parameters) == dict(plain.root.input_definitions.parameters)
    assert {name: each.component_input_parameter for name, each in whole.inputs.parameters.items()} == {
        name: name for name in spec.root.input_definitions.parameters
    }
    assert handler.trigger_policy.strategy == handler.trigger_policy.ALL_UPSTREAM_TASKS_COMPLETED
    assert list(handler.dependent_tasks) == [WHOLE]
    assert handler.inputs.parameters[STATUS].task_final_status.producer_task == WHOLE
    # What is in the one task is the pipeline as it is without a handler.
    assert problems_of(plain, deployment) == []


@pytest.mark.parametrize("status", [STATE, json.dumps(STATE)], ids=["struct", "text"])
def test_the_command_is_told_how_the_pipeline_ended(tmp_path, status):
    spec, deployment = read_document(compiled("kubeflow", "s3://a/b", on_exit=TELL))
    container = deployment.executors[f"{HANDLER}_executor"].container
    command = spec.root.dag.tasks[HANDLER].inputs.parameters[COMMAND].runtime_value.constant.string_value
    given = json.dumps({"inputs": {"parameterValues": {STATUS: status, COMMAND: command}}})
    program, *rest = container.command
    done = subprocess.run(
        [sys.executable, *rest, *[given if each == "{{$}}" else each for each in container.args]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    assert program == "python" and done.returncode == 3
    assert (tmp_path / "told.txt").read_text() == "FAILED: no rows (jobs/1)\n"


@pytest.mark.parametrize("nothing", [{}, {"error": None}, {"error": {"message": None}}])
def test_of_success_there_is_no_error(nothing):
    told = variables_of({"state": "SUCCEEDED", **nothing})
    assert told == {"FIRTH_STATE": "SUCCEEDED", "FIRTH_ERROR": "", "FIRTH_JOB": ""}
