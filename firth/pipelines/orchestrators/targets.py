"""The orchestrators that pipelines are compiled for, with what each can do."""

import dataclasses
import re
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]

_REFUSED = re.compile(r"[^a-z0-9]+")
_MOST_LETTERS = 128


@dataclasses.dataclass(frozen=True)
class Orchestrator:
    """An orchestrator that reads PipelineSpec, the format of Kubeflow Pipelines.

    Attributes:
        title: Name for readers.
        schemes: Beginnings of the pipeline roots that it and TensorFlow both write to.
        has_resolvers: Whether it can look up artifacts of earlier runs. Kubeflow's compiler to Argo cannot.
        is_vertex: Whether it runs where Vertex has custom jobs and endpoints.
        document: Function from a PipelineJob to what is submitted.
        endings: Endings of the names of files that its client reads, the usual one first.
        submitting: Lines that say how the file is submitted, in which `{file}` stands for it.
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
