"""The machines of a compiled pipeline's tasks."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

from firth.pipelines.orchestrators.targets import Document
from firth.recipes.base.errors import suggest


@dataclasses.dataclass(frozen=True)
class Resources:
    """What a task's container gets.

    Attributes:
        cpu: Number of virtual CPUs; 0 leaves it to the orchestrator.
        memory: Memory in gigabytes; 0 leaves it to the orchestrator.
        accelerator: Type of the accelerators as the orchestrator calls it, such as NVIDIA_L4 on Vertex and
            nvidia.com/gpu on Kubeflow; empty for none.
        count: Number of accelerators.
    """

    cpu: float = 0.0
    memory: float = 0.0
    accelerator: str = ""
    count: int = 1

    def as_spec(self) -> Document:
        """Returns Kubeflow's ResourceSpec."""
        limits = {"cpuLimit": self.cpu, "memoryLimit": self.memory}
        spec: Document = {key: limit for key, limit in limits.items() if limit}
        if self.accelerator:
            spec["accelerator"] = {"type": self.accelerator, "count": str(self.count)}
        return spec


def read_resources(lines: Sequence[str]) -> dict[str, Resources]:
    """Returns resources by task, and under "" those of all tasks that are not named.

    Args:
        lines: Lines such as `Trainer:cpu=8,memory=32,accelerator=NVIDIA_L4` or, for all tasks, `cpu=2`.

    Raises:
        ValueError: for a line that does not say resources so, with the nearest key.

    Example:

    >>> read_resources(["cpu=2,memory=8", "Trainer:cpu=8,accelerator=nvidia.com/gpu,count=2"])[""]
    Resources(cpu=2.0, memory=8.0, accelerator='', count=1)
    """
    found = {}
    for line in lines:
        task, colon, values = line.rpartition(":")
        found[task if colon else ""] = _read(values, line)
    return found


def _read(values: str, line: str) -> Resources:
    types: dict[str, Any] = get_type_hints(Resources)
    said: dict[str, Any] = {}
    for part in values.split(","):
        key, equals, value = (each.strip() for each in part.partition("="))
        if key not in types:
            raise ValueError(f"--resources {line}: unknown key {key!r}; {suggest(key, types)}")
        try:
            said[key] = types[key](value)
        except ValueError:
            said[key] = math.nan
        if not equals or not value or (types[key] is not str and not 0 < said[key] < math.inf):
            example = "8" if types[key] is not str else "NVIDIA_L4"
            raise ValueError(f"--resources {line}: {part!r} is not a value; write it as {key}={example}")
    return Resources(**said)


def give_resources(spec: Document, resources: Mapping[str, Resources]) -> None:
    """Gives the containers of a pipeline their resources.

    Args:
        spec: PipelineSpec, which is changed in its place.
        resources: Resources by task, and under "" those of all tasks that are not named.

    Raises:
        ValueError: for a task that has no container, with the nearest that has.
    """
    executors = spec["deploymentSpec"]["executors"]
    containers = {label.removesuffix("_executor"): each.get("container") for label, each in executors.items()}
    containers = {task: container for task, container in containers.items() if container}
    for task in resources:
        if task and task not in containers:
            raise ValueError(f"--resources {task}: no task has this name; {suggest(task, containers)}")
    for task, container in containers.items():
        given = resources.get(task) or resources.get("")
        if given:
            container["resources"] = given.as_spec()
