"""The machines of a compiled pipeline's tasks."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_type_hints

from firth.pipelines.orchestrators.targets import Document
from firth.recipes.base.errors import suggest

Values = TypeVar("Values")


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

    Example:

    >>> read_resources(["cpu=2,memory=8", "Trainer:cpu=8,accelerator=nvidia.com/gpu,count=2"])[""]
    Resources(cpu=2.0, memory=8.0, accelerator='', count=1)
    """
    found: dict[str, Resources] = {}
    for line in lines:
        task, colon, values = line.rpartition(":")
        if task in found:
            raise ValueError(
                f"--resources {line}: {task or 'all tasks'} had another line; write both as one, such as "
                f"{task}{colon}cpu=8,memory=32"
            )
        found[task] = read_values(Resources, values, f"--resources {line}")
    return found


def read_values(kind: type[Values], values: str, said: str) -> Values:
    """Returns what a line of values says."""
    types: dict[str, Any] = get_type_hints(kind)
    fields: Any = kind
    found: dict[str, Any] = {}
    for part in values.split(","):
        key, equals, value = (each.strip() for each in part.partition("="))
        if key not in types:
            raise ValueError(f"{said}: unknown key {key!r}; {suggest(key, types)}")
        if key in found:
            raise ValueError(f"{said}: {key} is there twice")
        try:
            found[key] = types[key](value)
        except ValueError:
            found[key] = math.nan
        if not equals or not value or (types[key] is not str and not 0 < found[key] < math.inf):
            example = "8" if types[key] is not str else "NVIDIA_L4"
            raise ValueError(f"{said}: {part!r} is not a value; write it as {key}={example}")
    if "count" in found and "accelerator" not in found:
        raise ValueError(f"{said}: count is a number of accelerators; add accelerator=NVIDIA_L4")
    needed = {each.name for each in dataclasses.fields(fields) if each.default is dataclasses.MISSING}
    if lacking := sorted(needed.difference(found)):
        raise ValueError(f"{said}: there is no {' and no '.join(lacking)}")
    return kind(**found)


def give_resources(spec: Document, resources: Mapping[str, Resources]) -> None:
    """Gives the containers of a pipeline their resources."""
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
