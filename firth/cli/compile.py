"""`firth compile`: from a recipe to the file that Vertex or Kubeflow runs."""

import json
import pathlib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firth import storage
from firth.cli import commands, execution
from firth.cli.commands import base_option, recipe_or_exit
from firth.cli.output import ExitCode, fail, note, run_quietly, usage_errors

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
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="File to write, here or in a bucket; pipeline.json, or for Kubeflow pipeline.yaml, by default.",
        show_default=False,
    ),
]
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
    output: Output = "",
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
    from firth.pipelines.orchestrators.targets import (
        ORCHESTRATORS,
        checked_root,
        pipeline_name,
        read_resources,
    )
    from firth.recipes.base.errors import suggest

    if orchestrator not in ORCHESTRATORS:
        advice = suggest(orchestrator, ORCHESTRATORS)
        fail(f"--for {orchestrator}: no such orchestrator; {advice}", ExitCode.USAGE)
    file = _file_of(output, orchestrator)
    if not image or len(image.split()) != 1:
        fail(f"--image {image!r}: name the image as docker does, such as me/firth:1", ExitCode.USAGE)
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
    with usage_errors(ValueError):
        name, bucket = pipeline_name(checked.name), checked_root(pipeline_root, orchestrator)
        served = serving_dir and checked_root(serving_dir, orchestrator)
        places = {"pipeline_root": bucket, "serving_dir": served}
        tasks = read_resources(resources or ())
    options = {"beam_pipeline_args": execution.beam_args(beam_arg), "enable_cache": not no_cache}
    settings = {"pipeline": kind, "orchestrator": orchestrator, "image": image, **places, **options, **vertex}
    expected = {ValueError: ExitCode.USAGE, ImportError: ExitCode.USAGE}
    run_quietly(lambda: _write(checked, settings, tasks, on_exit, file), "compile", expected)
    if name != checked.name:
        note(f"the pipeline is called {name}: orchestrators take no {checked.name}")
    if local := _local_files(checked):
        note(f"the image must have files that the recipe names on this machine, or name a bucket: {local}")
    typer.echo(f"{file}: the pipeline {name} for {ORCHESTRATORS[orchestrator].title}")
    typer.echo("next:")
    for line in ORCHESTRATORS[orchestrator].submitting:
        typer.echo(f"  {line.format(file=file, name=name)}")


def _recipe_of(name: str, options: Any, root: pathlib.Path, corpus_only: bool) -> "tuple[RunRecipe, str]":
    """Returns the recipe, checked, and the kind of its pipeline.

    No base is imported here: its bundle would be where no container finds it.
    """
    from firth.recipes import RecipeError
    from firth.recipes.reading.adapting import adapts, load_adapting_recipe

    if not adapts(name):
        checked = recipe_or_exit(name, options, root=root, imports=False)
        return checked, "curate" if corpus_only else "pretrain"
    if corpus_only:
        fail("--corpus-only: a recipe that adapts a model has no corpus", ExitCode.USAGE)
    with usage_errors(RecipeError):
        return load_adapting_recipe(name, options, root), "finetune"


def _file_of(output: str, orchestrator: str) -> str:
    """Returns the file to write. Ends the command if the orchestrator's client would not read it."""
    from firth.pipelines.orchestrators.targets import ORCHESTRATORS

    target = ORCHESTRATORS[orchestrator]
    file = output or f"pipeline{target.endings[0]}"
    if not file.endswith(target.endings):
        endings = " or ".join(target.endings)
        fail(f"--output {file}: a file for {target.title} ends in {endings}", ExitCode.USAGE)
    return file


def _local_files(recipe: "RunRecipe") -> str:
    """Returns the first files that a recipe names on this machine, with their keys."""
    from firth.recipes.base.errors import first_of
    from firth.recipes.base.file_names import named_files

    return first_of(
        [
            f"{'.'.join(each.key)}: {each.pattern}"
            for each in named_files(recipe)
            if storage.is_local(each.pattern)
        ]
    )


def _write(recipe: "RunRecipe", settings: dict[str, Any], resources: Any, on_exit: str, output: str) -> None:
    from firth.pipelines.orchestrators.compiling import Settings, compile_pipeline

    document = compile_pipeline(recipe, Settings(**settings), resources, on_exit)
    # Both clients read it as YAML, in which JSON's escapes of emoji mean something else.
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False)
    storage.write_text(output, f"{text}\n")


_IMAGE = "--image me/firth:1 --pipeline-root gs://my-bucket/firth"
register = commands.registrar(
    "compile",
    _compile,
    f"firth compile bert_mini --for vertex {_IMAGE}",
    f"firth compile my_recipe.yaml --for vertex {_IMAGE} "
    "--resources Trainer:cpu=8,memory=32,accelerator=NVIDIA_L4",
    "firth compile bert_mini --for kubeflow --image me/firth:1 --pipeline-root s3://my-bucket/firth",
    f"firth compile bert_mini --for vertex {_IMAGE} --set training.strategy=multi_worker_mirrored "
    "--training-job project=mine,region=us-central1,machine=n1-standard-8,"
    "accelerator=NVIDIA_TESLA_T4,workers=2",
    f"firth compile bert_mini --for vertex {_IMAGE} --endpoint "
    "project=mine,region=us-central1,name=bert,image=my-server:1,machine=n1-standard-4,max_replicas=4",
    f"firth compile bert_mini --for vertex {_IMAGE} --on-exit 'python /app/tell.py'",
    f"firth compile my_recipe.yaml --corpus-only --for vertex {_IMAGE} -o corpus.json",
    after="Exit codes: 0 written; 2 wrong usage or recipe.",
)
