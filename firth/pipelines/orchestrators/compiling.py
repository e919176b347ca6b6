"""Compiles a recipe's pipeline to the format of Kubeflow Pipelines, which Vertex reads too."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from firth.components.file_digests import FILES, UNREAD, FileDigests
from firth.pipelines.orchestrators.compilable import PIPELINES
from firth.pipelines.orchestrators.endpoint import pusher_of, read_endpoint
from firth.pipelines.orchestrators.exit_handler import end_with
from firth.pipelines.orchestrators.resources import Resources, give_resources
from firth.pipelines.orchestrators.run_time import read_at_run_time
from firth.pipelines.orchestrators.targets import ORCHESTRATORS, Document, pipeline_name
from firth.pipelines.orchestrators.training_job import check_workers, read_training_job, trainer_of
from firth.recipes.run.run_recipe import RunRecipe

# TFX's entry point of a container, after the image's file systems are known to it.
ENTRY_POINT = ("python", "-m", "firth.pipelines.orchestrators.entry_point")
MISSING = "compiling needs Kubeflow's format: pip install 'firth[kubeflow]'"


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a compiled pipeline is made of, next to its recipe.

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
    read_at_run_time(spec, recipe, settings)
    if on_exit:
        end_with(spec, on_exit, settings.image)
    give_resources(spec, resources)
    return ORCHESTRATORS[settings.orchestrator].document(job)


def tfx_job(recipe: RunRecipe, settings: Settings, digests: FileDigests = FILES) -> Document:
    """Returns the PipelineJob that TFX compiles, which says every value."""
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
    document: Document = kubeflow.KubeflowV2DagRunner(config).run(pipeline, write_out=False)
    return document
