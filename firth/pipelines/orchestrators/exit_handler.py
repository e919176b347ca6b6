"""The task that runs when a compiled pipeline has ended, whether it failed or not."""

from firth.pipelines.orchestrators.targets import Document

HANDLER, WHOLE = "ExitHandler", "Pipeline"
HANDLER_COMMAND = ("python", "-m", "firth.pipelines.orchestrators.on_exit")
STATUS, COMMAND = "status", "command"


def end_with(spec: Document, command: str, image: str) -> None:
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
    told = {
        STATUS: {"taskFinalStatus": {"producerTask": WHOLE}},
        COMMAND: {"runtimeValue": {"constant": command}},
    }
    spec["root"]["dag"] = {
        "tasks": {
            WHOLE: {**_task(WHOLE), "inputs": {"parameters": given}},
            HANDLER: {
                **_task(HANDLER),
                "inputs": {"parameters": told},
                "dependentTasks": [WHOLE],
                "triggerPolicy": {"strategy": "ALL_UPSTREAM_TASKS_COMPLETED"},
            },
        }
    }


def _task(name: str) -> Document:
    return {"taskInfo": {"name": name}, "componentRef": {"name": name}}
