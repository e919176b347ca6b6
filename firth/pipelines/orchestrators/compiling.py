"""Compiles a recipe's pipeline to the format of Kubeflow Pipelines, which Vertex reads too."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tfx.components import Pusher, Trainer

from firth.components.file_digests import FILES, UNREAD, FileDigests
from firth.pipelines.orchestrators.on_exit import add_exit_task
from firth.pipelines.orchestrators.run_time import PIPELINES, add_recipe_reader
from firth.pipelines.orchestrators.targets import (
    ORCHESTRATORS,
    Document,
    Resources,
    give_resources,
    pipeline_name,
    read_values,
)
from firth.recipes.run.run_recipe import RunRecipe

# TFX's entry point of a container, after the image's file systems are known to it.
ENTRY_POINT = ("python", "-m", "firth.pipelines.orchestrators.entry_point")
MISSING = "compiling needs Kubeflow's format: pip install 'firth[kubeflow]'"
_TOGETHER = "multi_worker_mirrored"


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of a compiled pipeline, next to its recipe.

    Attributes:
        pipeline: Key of `PIPELINES`.
        orchestrator: Key of `ORCHESTRATORS`.
        image: Name of the container image that has firth and TFX.
        pipeline_root: Bucket where artifacts go.
        serving_dir: Folder where blessed models are pushed; `serving` in the root if empty.
        beam_pipeline_args: Options of Beam.
        enable_cache: True to reuse outputs of components whose inputs and values have not changed.
        training_job: Custom job of Vertex that trains, as for `read_training_job`; empty for a task.
        endpoint: Endpoint of Vertex that blessed models are deployed to, as for `read_endpoint`; empty for a
            folder.
    """

    pipeline: str
    orchestrator: str
    image: str
    pipeline_root: str
    serving_dir: str = ""
    beam_pipeline_args: tuple[str, ...] = ()
    enable_cache: bool = True
    training_job: str = ""
    endpoint: str = ""


def compile_pipeline(
    recipe: RunRecipe,
    settings: Settings,
    resources: Mapping[str, Resources] = MappingProxyType({}),
    on_exit: str = "",
) -> Document:
    """Returns a recipe's pipeline as its orchestrator reads it.

    Its first task reads the recipe of the run when it runs: the compiled one, changed by the run-time
    parameters. All others take their values from it.

    Raises:
        ImportError: if Kubeflow's format is not installed.
        ValueError: for a recipe's name that leaves the pipeline none, or resources of no task.
    """
    job = tfx_job(recipe, settings, UNREAD)
    spec = job["pipelineSpec"]
    add_recipe_reader(spec, recipe, settings)
    if on_exit:
        add_exit_task(spec, on_exit, settings.image)
    give_resources(spec, resources)
    return ORCHESTRATORS[settings.orchestrator].document(job)


def tfx_job(recipe: RunRecipe, settings: Settings, digests: FileDigests = FILES) -> Document:
    """Returns the PipelineJob that TFX compiles, with every value."""
    if recipe.infra_validation:
        raise ValueError(
            "infra_validation: TFX compiles no InfraValidator for Kubeflow and Vertex; leave it out, and "
            "ServingValidator tries the model as a server would ask it"
        )
    try:
        from tfx.orchestration.kubeflow.v2 import kubeflow_v2_dag_runner as kubeflow
    except ImportError as error:
        raise ImportError(f"{MISSING} ({error})") from error
    kind, orchestrator = PIPELINES[settings.pipeline], ORCHESTRATORS[settings.orchestrator]
    extra: dict[str, Any] = {}
    if kind.compares:
        extra = {"has_baseline": orchestrator.has_resolvers, "serving_dir": settings.serving_dir or None}
    if settings.training_job:
        job = read_training_job(settings.training_job)
        check_workers(job, recipe.training.strategy)
        extra["make_trainer"] = trainer_of(job, settings.image)
    if settings.endpoint:
        extra["make_pusher"] = pusher_of(read_endpoint(settings.endpoint))
    pipeline = kind.create(
        recipe,
        settings.pipeline_root,
        beam_pipeline_args=settings.beam_pipeline_args,
        enable_cache=settings.enable_cache,
        digests=digests,
        **extra,
    )
    pipeline.pipeline_info.pipeline_name = pipeline_name(recipe.name)
    config = kubeflow.KubeflowV2DagRunnerConfig(
        display_name=recipe.name,
        default_image=settings.image,
        default_commands=list(ENTRY_POINT),
        # Kubeflow reads no other.
        use_pipeline_spec_2_1=True,
    )
    return kubeflow.KubeflowV2DagRunner(config).run(pipeline, write_out=False)


@dataclasses.dataclass(frozen=True)
class TrainingJob:
    """The machines of a custom job of Vertex.

    Attributes:
        project: Project that the job is of.
        region: Region such as us-central1.
        machine: Type of the machines, such as n1-standard-8.
        accelerator: Type of the accelerators, such as NVIDIA_TESLA_T4; empty for none.
        count: Number of accelerators of each machine.
        workers: Number of machines, the chief among them. Vertex tells each of the others in TF_CONFIG, which
            `training.strategy: multi_worker_mirrored` reads.
    """

    project: str
    region: str
    machine: str
    accelerator: str = ""
    count: int = 1
    workers: int = 1

    def worker_pools(self, image: str) -> list[dict[str, Any]]:
        """Returns the pools of a CustomJobSpec: the chief, and the other workers."""
        machine: dict[str, Any] = {"machine_type": self.machine}
        if self.accelerator:
            machine |= {"accelerator_type": self.accelerator, "accelerator_count": self.count}
        numbers = [1, self.workers - 1] if self.workers > 1 else [1]
        return [
            {"machine_spec": machine, "replica_count": number, "container_spec": {"image_uri": image}}
            for number in numbers
        ]


def read_training_job(line: str) -> TrainingJob:
    """Returns the job that a line describes.

    Raises:
        ValueError: for an unknown key, with the nearest, one that lacks, or something that is not a value.

    Example:

    >>> read_training_job("project=mine,region=us-central1,machine=n1-standard-8").workers
    1
    """
    return read_values(TrainingJob, line, f"--training-job {line}")


def check_workers(job: TrainingJob, strategy: str) -> None:
    """Checks that the machines of a job train one model together."""
    if job.workers > 1 and strategy != _TOGETHER:
        raise ValueError(
            f"--training-job: {job.workers} workers train one model only with training.strategy: "
            f"{_TOGETHER}, not {strategy}; add --set training.strategy={_TOGETHER}, or leave workers out"
        )


def trainer_of(job: TrainingJob, image: str) -> Callable[..., Trainer]:
    """Returns a function that makes the Trainer of TFX which starts such a job and waits for it.

    Raises:
        ImportError: if Vertex's client is not installed.
    """
    from tfx.extensions.google_cloud_ai_platform import constants
    from tfx.extensions.google_cloud_ai_platform.trainer import component, executor

    of_job = {
        constants.ENABLE_VERTEX_KEY: True,
        constants.VERTEX_REGION_KEY: job.region,
        executor.TRAINING_ARGS_KEY: {
            "project": job.project,
            "job_spec": {"worker_pool_specs": job.worker_pools(image)},
        },
    }
    return functools.partial(_make, component.Trainer, of_job)


def _make(trainer: type[Trainer], of_job: dict[str, Any], **settings: Any) -> Trainer:
    return trainer(**{**settings, "custom_config": {**settings["custom_config"], **of_job}})


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """An endpoint of Vertex, and the machines that a model gets there.

    Attributes:
        project: Project that the endpoint is of.
        region: Region such as us-central1.
        name: Display name of the endpoint, which is made if there is none.
        image: Name of the container image that serves the SavedModel.
        machine: Type of the machines, such as n1-standard-4.
        accelerator: Type of the accelerators, such as NVIDIA_TESLA_T4; empty for none.
        count: Number of accelerators of each machine.
        replicas: Number of machines at least.
        max_replicas: Number of machines at most; as many as `replicas` if 0.
        traffic: Percentage of the endpoint's requests that the new model answers.
    """

    project: str
    region: str
    name: str
    image: str
    machine: str
    accelerator: str = ""
    count: int = 1
    replicas: int = 1
    max_replicas: int = 0
    traffic: int = 100

    def serving_arguments(self) -> dict[str, Any]:
        """Returns the arguments of `Model.deploy` of Vertex's client, and the endpoint with its project."""
        arguments: dict[str, Any] = {
            "project": self.project,
            "endpoint_name": self.name,
            "machine_type": self.machine,
            "min_replica_count": self.replicas,
            "max_replica_count": self.max_replicas or self.replicas,
            "traffic_percentage": self.traffic,
        }
        if self.accelerator:
            arguments |= {"accelerator_type": self.accelerator, "accelerator_count": self.count}
        return arguments


def read_endpoint(line: str) -> Endpoint:
    """Returns the endpoint that a line describes.

    Example:

    >>> read_endpoint("project=mine,region=us-central1,name=bert,image=a/b:1,machine=n1-standard-4").traffic
    100
    """
    endpoint = read_values(Endpoint, line, f"--endpoint {line}")
    if 0 < endpoint.max_replicas < endpoint.replicas or endpoint.traffic > 100:
        raise ValueError(
            f"--endpoint {line}: max_replicas is at least replicas ({endpoint.replicas}), and traffic at "
            "most 100"
        )
    return endpoint


def pusher_of(endpoint: Endpoint) -> Callable[..., Pusher]:
    """Returns a function that makes the Pusher which uploads a blessed model to Vertex and deploys it.

    Raises:
        ImportError: if Vertex's client is not installed.
    """
    from tfx.extensions.google_cloud_ai_platform import constants
    from tfx.extensions.google_cloud_ai_platform.pusher import component

    config = {
        constants.ENABLE_VERTEX_KEY: True,
        constants.VERTEX_REGION_KEY: endpoint.region,
        constants.VERTEX_CONTAINER_IMAGE_URI_KEY: endpoint.image,
        constants.SERVING_ARGS_KEY: endpoint.serving_arguments(),
    }
    return functools.partial(_make_endpoint, component.Pusher, config)


def _make_endpoint(
    pusher: type[Pusher], config: dict[str, Any], *, push_destination: Any, **inputs: Any
) -> Pusher:
    """Returns a Pusher that deploys to an endpoint; it takes no folder."""
    return pusher(**inputs, custom_config=config)
