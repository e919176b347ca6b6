"""`firth compile`: from a recipe to the file that Vertex or Kubeflow runs."""

import json
import pathlib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firth import storage
from firth.cli import commands, execution
from firth.cli.output import ExitCode, fail, note
from firth.cli.quietly import quietly
from firth.cli.recipe_options import base_option, recipe_or_exit
from firth.cli.show import adapts

if TYPE_CHECKING:
    from firth.recipes.run.run_recipe import RunRecipe

For = Annotated[
    str,
    typer.Option("--for", metavar="NAME", help="The orchestrator: vertex or kubeflow.", show_default=False),
]
Image = Annotated[
    str,
    typer.Option(
        "--image", metavar="IMAGE", help="Container image with firth, see docker/.", show_default=False
    ),
]
PipelineRoot = Annotated[
    str,
    typer.Option(
        "--pipeline-root",
        metavar="URI",
        help="Folder of a bucket where artifacts go, such as gs://my-bucket/firth.",
        show_default=False,
    ),
]
ServingDir = Annotated[
    str,
    typer.Option(
        "--serving-dir", metavar="URI", help="Where blessed models are pushed; in the root if not given."
    ),
]
Output = Annotated[pathlib.Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")]
CorpusOnly = Annotated[
    bool, typer.Option("--corpus-only", help="Compile the pipeline of firth curate, which trains nothing.")
]
ResourcesOf = Annotated[
    list[str] | None,
    typer.Option(
        "--resources",
        metavar="TASK:KEY=VALUE",
        help="cpu, memory (GB), accelerator and count of a task, or without its name of all; repeatable.",
    ),
]
TrainingJob = Annotated[
    str,
    typer.Option(
        "--training-job",
        metavar="KEY=VALUE,...",
        help="Train in a custom job of Vertex, on several machines: project, region, machine, accelerator, "
        "count and workers.",
    ),
]
Endpoint = Annotated[
    str,
    typer.Option(
        "--endpoint",
        metavar="KEY=VALUE,...",
        help="Deploy a blessed model to an endpoint of Vertex instead of a folder: project, region, name, "
        "image, machine, accelerator, count, replicas, max_replicas and traffic.",
    ),
]
OnExit = Annotated[
    str,
    typer.Option(
        "--on-exit",
        metavar="COMMAND",
        help="Command that a last task runs in the image when all others have ended, or one has failed; "
        "it finds FIRTH_STATE, FIRTH_ERROR and FIRTH_JOB in its environment.",
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Run every task anew, whatever has not changed.")]


def _compile(
    recipe: commands.RecipeName,
    orchestrator: For,
    image: Image,
    pipeline_root: PipelineRoot,
    output: Output = pathlib.Path("pipeline.json"),
    corpus_only: CorpusOnly = False,
    base: commands.Base = None,
    overrides: commands.Overrides = None,
    serving_dir: ServingDir = "",
    resources: ResourcesOf = None,
    training_job: TrainingJob = "",
    endpoint: Endpoint = "",
    on_exit: OnExit = "",
    no_cache: NoCache = False,
    beam_arg: execution.BeamArgs = None,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Writes a recipe's pipeline for Vertex or Kubeflow. Nothing runs, and no source is read.

    Each run may be given another recipe, sources, steps and more; see docs/how-to/vertex.md.
    """
    from firth.pipelines.orchestrators.resources import read_resources
    from firth.pipelines.orchestrators.targets import ORCHESTRATORS, checked_root, pipeline_name
    from firth.recipes.base.errors import suggest

    if orchestrator not in ORCHESTRATORS:
        advice = suggest(orchestrator, ORCHESTRATORS)
        fail(f"--for {orchestrator}: no such orchestrator; {advice}", ExitCode.USAGE)
    if corpus_only and serving_dir:
        fail("--serving-dir: --corpus-only makes no model to push; leave one of them out", ExitCode.USAGE)
    if endpoint and serving_dir:
        fail("--serving-dir: --endpoint takes the model; leave one of them out", ExitCode.USAGE)
    vertex = {"training_job": training_job, "endpoint": endpoint}
    for key, line in vertex.items():
        if line and (corpus_only or not ORCHESTRATORS[orchestrator].is_vertex):
            option = f"--{key.replace('_', '-')}"
            fail(f"{option}: it is Vertex's, for a pipeline that trains; leave it out", ExitCode.USAGE)
    checked, kind = _recipe_of(recipe, [*base_option(base), *(overrides or ())], root, corpus_only)
    try:
        name, bucket = pipeline_name(checked.name), checked_root(pipeline_root, orchestrator)
        served = serving_dir and checked_root(serving_dir, orchestrator)
        places = {"pipeline_root": bucket, "serving_dir": served}
        tasks = read_resources(resources or ())
    except ValueError as error:
        fail(str(error), ExitCode.USAGE)
    options = {"beam_pipeline_args": execution.beam_args(beam_arg), "enable_cache": not no_cache}
    said = {"pipeline": kind, "orchestrator": orchestrator, "image": image, **places, **options, **vertex}
    expected = {ValueError: ExitCode.USAGE, ImportError: ExitCode.USAGE}
    quietly(lambda: _write(checked, said, tasks, on_exit, output), "compile", expected)
    if name != checked.name:
        note(f"the pipeline is called {name}: orchestrators take no {checked.name}")
    if checked.base is not None and storage.is_local(checked.base.bundle):
        note(f"base: the image must have {checked.base.bundle}, unless --base names a copy in a bucket")
    typer.echo(f"{output}: the pipeline {name} for {ORCHESTRATORS[orchestrator].title}")
    typer.echo("next:")
    for line in ORCHESTRATORS[orchestrator].submitting:
        typer.echo(f"  {line.format(file=output, name=name)}")


def _recipe_of(name: str, options: Any, root: pathlib.Path, corpus_only: bool) -> "tuple[RunRecipe, str]":
    """Returns the recipe, checked, and the kind of its pipeline."""
    from firth.recipes import RecipeError
    from firth.recipes.reading.adapting import load_adapting_recipe

    if not adapts(name):
        return recipe_or_exit(name, options, root=root), "curate" if corpus_only else "pretrain"
    if corpus_only:
        fail("--corpus-only: a recipe that adapts a model has no corpus", ExitCode.USAGE)
    try:
        return load_adapting_recipe(name, options, root), "finetune"
    except RecipeError as error:
        fail(str(error), ExitCode.USAGE)


def _write(
    recipe: "RunRecipe", said: dict[str, Any], resources: Any, on_exit: str, output: pathlib.Path
) -> None:
    from firth.pipelines.orchestrators.compiling import Settings, compile_pipeline

    document = compile_pipeline(recipe, Settings(**said), resources, on_exit)
    storage.write_text(output, json.dumps(document, indent=1, sort_keys=True) + "\n")


_IMAGE = "--image me/firth:1 --pipeline-root gs://my-bucket/firth"
register = commands.registrar(
    "compile",
    _compile,
    f"firth compile bert_mini --for vertex {_IMAGE}",
    f"firth compile my_recipe.yaml --for vertex {_IMAGE} "
    "--resources Trainer:cpu=8,memory=32,accelerator=NVIDIA_L4",
    "firth compile bert_mini --for kubeflow --image me/firth:1 --pipeline-root s3://my-bucket/firth",
    f"firth compile bert_mini --for vertex {_IMAGE} --training-job "
    "project=mine,region=us-central1,machine=n1-standard-8,accelerator=NVIDIA_TESLA_T4,workers=2",
    f"firth compile bert_mini --for vertex {_IMAGE} --endpoint "
    "project=mine,region=us-central1,name=bert,image=my-server:1,machine=n1-standard-4,max_replicas=4",
    f"firth compile bert_mini --for vertex {_IMAGE} --on-exit 'python /app/tell.py'",
    f"firth compile my_recipe.yaml --corpus-only --for vertex {_IMAGE} -o corpus.json",
    after="Exit codes: 0 written; 2 wrong usage or recipe.",
)
