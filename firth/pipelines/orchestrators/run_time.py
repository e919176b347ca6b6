"""The task that reads a run's recipe when the run begins, and the values that all others take from it.

TFX writes the values of a recipe into the tasks of a compiled pipeline. Here each becomes an output of a
first task, which makes the same pipeline again in its container (`read_recipe`), from the recipe that the run
is given and from the files that the sources name by then. So a run may change any key, a scheduled run reads
what is new, and a task whose values stay the same is still taken from the cache.
"""

import dataclasses
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from firth.pipelines.orchestrators.compilable import PIPELINES, STRING
from firth.pipelines.orchestrators.targets import Document
from firth.recipes.reading.adapting import run_yaml
from firth.recipes.run.run_recipe import RunRecipe

if TYPE_CHECKING:
    from firth.pipelines.orchestrators.compiling import Settings

READER = "RecipeReader"
READER_COMMAND = ("python", "-m", "firth.pipelines.orchestrators.read_recipe")
# The reader's input of what was compiled, as JSON.
COMPILED = "compiled"
EXECUTOR = "{}_executor"


def read_at_run_time(spec: Document, recipe: RunRecipe, settings: "Settings") -> None:
    """Puts the task that reads the recipe before all others, and gives them its outputs for their values."""
    outputs = {}
    for task, key, _ in constants(spec):
        name = output_name(task, key)
        outputs[name] = {"parameterType": _inputs_of(spec, task)[key]["parameterType"]}
        node = spec["root"]["dag"]["tasks"][task]
        taken = {"producerTask": READER, "outputParameterKey": name}
        node["inputs"]["parameters"][key] = {"taskOutputParameter": taken}
        node["dependentTasks"] = sorted({*node.get("dependentTasks", ()), READER})
    compiled = {
        "recipe": run_yaml(recipe),
        "settings": dataclasses.asdict(settings),
        "imported": imported(spec),
        "resolved": resolved(spec),
    }
    _add_reader(spec, settings, outputs, json.dumps(compiled))


def constants(spec: Document) -> Iterator[tuple[str, str, Any]]:
    """Yields each value that is written into a task with a container, as (task, key, value)."""
    executors = spec["deploymentSpec"]["executors"]
    for task, node in spec["root"]["dag"]["tasks"].items():
        if "container" not in executors[EXECUTOR.format(task)]:
            continue
        for key, source in list(node.get("inputs", {}).get("parameters", {}).items()):
            yield task, key, source["runtimeValue"]["constant"]


def imported(spec: Document) -> dict[str, Any]:
    """Returns what a pipeline imports, by task: a base, with its digest, cannot change from run to run."""
    executors = spec["deploymentSpec"]["executors"]
    importers = {
        task: executors[EXECUTOR.format(task)].get("importer") for task in spec["root"]["dag"]["tasks"]
    }
    return {
        task: [importer["artifactUri"], importer.get("metadata")]
        for task, importer in importers.items()
        if importer
    }


def resolved(spec: Document) -> list[str]:
    """Returns the tasks that look up artifacts of earlier runs."""
    executors = spec["deploymentSpec"]["executors"]
    return sorted(
        task for task in spec["root"]["dag"]["tasks"] if "resolver" in executors[EXECUTOR.format(task)]
    )


def output_name(task: str, key: str) -> str:
    """Returns the name of the reader's output for a task's value.

    Example:

    >>> output_name("Trainer", "train_args")
    'Trainer_train_args'
    """
    return f"{task}_{key}"


def _inputs_of(spec: Document, task: str) -> Document:
    inputs: Document = spec["components"][task]["inputDefinitions"]["parameters"]
    return inputs


def _add_reader(spec: Document, settings: "Settings", outputs: Document, compiled: str) -> None:
    parameters = PIPELINES[settings.pipeline].parameters
    defined = {
        name: {
            "parameterType": each.type,
            "defaultValue": each.unset,
            "isOptional": True,
            "description": each.about,
        }
        for name, each in parameters.items()
    }
    inputs = {name: {"componentInputParameter": name} for name in parameters}
    spec["root"]["inputDefinitions"] = {"parameters": defined}
    spec["components"][READER] = {
        "executorLabel": EXECUTOR.format(READER),
        "inputDefinitions": {"parameters": {**defined, COMPILED: {"parameterType": STRING}}},
        "outputDefinitions": {"parameters": outputs},
    }
    # It is never taken from the cache: files may have changed.
    spec["root"]["dag"]["tasks"][READER] = {
        "taskInfo": {"name": READER},
        "componentRef": {"name": READER},
        "inputs": {"parameters": {**inputs, COMPILED: {"runtimeValue": {"constant": compiled}}}},
    }
    spec["deploymentSpec"]["executors"][EXECUTOR.format(READER)] = {
        "container": {"image": settings.image, "command": list(READER_COMMAND), "args": ["{{$}}"]}
    }
