"""The orchestrators that pipelines are compiled for, and the machines of their tasks."""

import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, get_type_hints

from firth.recipes.base.errors import suggest

Document = dict[str, Any]
_REFUSED = re.compile(r"[^a-z0-9]+")
_MOST_LETTERS = 128
Values = TypeVar("Values")


@dataclasses.dataclass(frozen=True)
class Orchestrator:
    """An orchestrator that reads PipelineSpec, the format of Kubeflow Pipelines.

    Attributes:
        title: Name for readers.
        schemes: Beginnings of the pipeline roots that it and TensorFlow both write to.
        has_resolvers: True if it can look up artifacts of earlier runs. Kubeflow's compiler to Argo cannot.
        is_vertex: True if it runs where Vertex has custom jobs and endpoints.
        document: Function from a PipelineJob to the document that is submitted.
        endings: Endings of the names of files that its client reads, the usual one first.
        submitting: Lines of code that submit the file; `{file}` is its path.
    """

    title: str
    schemes: tuple[str, ...]
    has_resolvers: bool
    is_vertex: bool
    document: Callable[[Document], Document]
    endings: tuple[str, ...]
    submitting: tuple[str, ...]


def _pipeline_spec(job: Document) -> Document:
    """Returns the PipelineSpec of a job; where its artifacts go is a part of it."""
    return {**job["pipelineSpec"], "defaultPipelineRoot": job["runtimeConfig"]["gcsOutputDirectory"]}


# By the name that the command takes.
ORCHESTRATORS = {
    "vertex": Orchestrator(
        title="Vertex AI Pipelines",
        schemes=("gs://",),
        has_resolvers=True,
        is_vertex=True,
        document=lambda job: job,
        endings=(".json", ".yaml", ".yml"),
        submitting=(
            "from google.cloud import aiplatform",
            'job = aiplatform.PipelineJob("{name}", template_path="{file}", parameter_values={{}})',
            "job.submit()",
        ),
    ),
    "kubeflow": Orchestrator(
        title="Kubeflow Pipelines",
        schemes=("gs://", "s3://"),
        has_resolvers=False,
        is_vertex=False,
        document=_pipeline_spec,
        # The client of Kubeflow refuses a file that ends in .json. JSON is YAML too.
        endings=(".yaml", ".yml"),
        submitting=("kfp run create --experiment-name {name} --package-file {file}",),
    ),
}


def pipeline_name(recipe_name: str) -> str:
    """Returns the name of a pipeline, in the letters, digits and hyphens that both orchestrators take.

    Example:

    >>> pipeline_name("bert_mini"), pipeline_name("BERT v1.2")
    ('bert-mini', 'bert-v1-2')
    """
    name = _REFUSED.sub("-", recipe_name.lower()).strip("-")
    if not name or len(name) > _MOST_LETTERS:
        raise ValueError(
            f"name: {recipe_name!r} leaves a pipeline the name {name!r}, and it needs 1 to {_MOST_LETTERS} "
            "of a-z, 0-9 and -; give the recipe another with --set name=my-pipeline"
        )
    return name


def checked_root(root: str, orchestrator: str) -> str:
    """Returns a folder of a bucket without a slash at its end."""
    schemes = ORCHESTRATORS[orchestrator].schemes
    if not root.startswith(schemes) or not root.split("://", 1)[1].strip("/"):
        title = ORCHESTRATORS[orchestrator].title
        raise ValueError(
            f"{root!r} is not a place for the artifacts of {title}, whose containers share no disk; give a "
            f"folder of a bucket, as in {' or '.join(f'{each}my-bucket/firth' for each in schemes)}"
        )
    return root.rstrip("/")


@dataclasses.dataclass(frozen=True)
class Resources:
    """Resources of a task's container.

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


def read_values(kind: type[Values], values: str, option: str) -> Values:
    """Returns an object of the values in a line."""
    types: dict[str, Any] = get_type_hints(kind)
    fields: Any = kind
    found: dict[str, Any] = {}
    for part in values.split(","):
        key, equals, value = (each.strip() for each in part.partition("="))
        if key not in types:
            raise ValueError(f"{option}: unknown key {key!r}; {suggest(key, types)}")
        if key in found:
            raise ValueError(f"{option}: {key} is there twice")
        try:
            found[key] = types[key](value)
        except ValueError:
            found[key] = math.nan
        if not equals or not value or (types[key] is not str and not 0 < found[key] < math.inf):
            example = "8" if types[key] is not str else "NVIDIA_L4"
            raise ValueError(f"{option}: {part!r} is not a value; write it as {key}={example}")
    if "count" in found and "accelerator" not in found:
        raise ValueError(f"{option}: count is a number of accelerators; add accelerator=NVIDIA_L4")
    needed = {each.name for each in dataclasses.fields(fields) if each.default is dataclasses.MISSING}
    if lacking := sorted(needed.difference(found)):
        raise ValueError(f"{option}: there is no {' and no '.join(lacking)}")
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
