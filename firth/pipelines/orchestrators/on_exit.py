"""The last task of a compiled pipeline, and its program: it runs a command with the state of the pipeline.

python -m firth.pipelines.orchestrators.on_exit '{"inputs": ...}'
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from firth.pipelines.orchestrators.targets import Document

HANDLER, WHOLE = "ExitHandler", "Pipeline"
HANDLER_COMMAND = ("python", "-m", "firth.pipelines.orchestrators.on_exit")
STATUS, COMMAND = "status", "command"


def main(executor_input: str) -> int:
    """Runs the command, and returns its exit status."""
    given = json.loads(executor_input)["inputs"]["parameterValues"]
    environment = {**os.environ, **variables_of(given.get(STATUS) or {})}
    return subprocess.run(["sh", "-c", given[COMMAND]], env=environment, check=False).returncode


def variables_of(status: str | Mapping[str, Any]) -> dict[str, str]:
    """Returns the variables of the command's environment.

    Example:

    >>> variables_of({"state": "FAILED", "error": {"message": "Trainer has failed"}})["FIRTH_ERROR"]
    'Trainer has failed'
    """
    found: Mapping[str, Any] = json.loads(status) if isinstance(status, str) else status
    # The error of a pipeline that succeeded may be a null.
    error = found.get("error") or {}
    return {
        "FIRTH_STATE": str(found.get("state") or ""),
        "FIRTH_ERROR": str(error.get("message") or ""),
        "FIRTH_JOB": str(found.get("pipelineJobResourceName") or ""),
    }


def add_exit_task(spec: Document, command: str, image: str) -> None:
    """Puts all tasks into one, and after it a task that runs a command of the shell however it ends."""
    defined = spec["root"].get("inputDefinitions", {}).get("parameters", {})
    spec["components"][WHOLE] = {
        "dag": spec["root"].pop("dag"),
        "inputDefinitions": {"parameters": dict(defined)},
    }
    spec["components"][HANDLER] = {
        "executorLabel": f"{HANDLER}_executor",
        "inputDefinitions": {
            "parameters": {
                STATUS: {"parameterType": "TASK_FINAL_STATUS", "isOptional": True},
                COMMAND: {"parameterType": "STRING"},
            }
        },
    }
    spec["deploymentSpec"]["executors"][f"{HANDLER}_executor"] = {
        "container": {"image": image, "command": list(HANDLER_COMMAND), "args": ["{{$}}"]}
    }
    given = {name: {"componentInputParameter": name} for name in defined}
    inputs = {
        STATUS: {"taskFinalStatus": {"producerTask": WHOLE}},
        COMMAND: {"runtimeValue": {"constant": command}},
    }
    spec["root"]["dag"] = {
        "tasks": {
            WHOLE: {**_task(WHOLE), "inputs": {"parameters": given}},
            HANDLER: {
                **_task(HANDLER),
                "inputs": {"parameters": inputs},
                "dependentTasks": [WHOLE],
                "triggerPolicy": {"strategy": "ALL_UPSTREAM_TASKS_COMPLETED"},
            },
        }
    }


def _task(name: str) -> Document:
    return {"taskInfo": {"name": name}, "componentRef": {"name": name}}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
