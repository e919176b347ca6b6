"""Runs a recipe's pipelines on this machine, in one folder, with a lock, a log and timings.

A run after a kill removes the outputs that were cut short (`leftovers`), takes those of finished components
from TFX's cache, and resumes the training at its last checkpoint (`firth.training.pretraining`).
"""

import contextlib
import dataclasses
import functools
import gc
import os
import pathlib
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import filelock

from firth import storage
from firth.pipelines import logs
from firth.pipelines.events import (
    TIMINGS_FILE,
    ComponentEvents,
    Event,
    RunEstimate,
    Timings,
    earlier_times,
    reporting,
)
from firth.pipelines.results import (
    CORPUS_PAGE_FILE,
    ComponentResult,
    CurationResult,
    RunResult,
    collect_curation,
    collect_run,
    copy_pages,
    outputs_of,
)
from firth.pipelines.run_errors import (
    RunFailedError,
    RunFolderError,
    RunLockedError,
    explain,
    full_disk,
)
from firth.pipelines.run_folder import (
    changed_keys,
    refuse_imported,
    remember_recipe,
    require_same_origin,
    run_folder,
    schema_of,
    set_schema_aside,
    sources_changed,
)
from firth.pipelines.run_metadata import METADATA_FILE, keep_metadata_in, metadata_of
from firth.pipelines.termination import end_children_on_signals
from firth.recipes import Recipe
from firth.recipes.run.adapting import AdaptingRecipe

if TYPE_CHECKING:
    from tfx.orchestration.pipeline import Pipeline

    from firth.tasks.labelled.data import HandedData

__all__ = [
    "CurationResult",
    "RunFailedError",
    "RunFolderError",
    "RunLockedError",
    "RunOptions",
    "RunResult",
    "create_local_finetuning_pipeline",
    "create_local_pipeline",
    "curate",
    "finetune",
    "run",
]

LOCK_FILE = ".lock"
PIPELINE_FOLDER = "pipeline"
SERVING_FOLDER = "serving"
# The component that takes the labelled data that have been read.
_READER = "LabelledExampleGen"

OnEvent = Callable[[Event], None]
# Makes a recipe's pipeline in a folder, with options of Beam.
MakePipeline = Callable[[Any, pathlib.Path, Sequence[str]], Any]
Result = TypeVar("Result")
# Makes the result of a folder, its components and the path of the log.
Collect = Callable[[pathlib.Path, tuple[ComponentResult, ...], pathlib.Path], Result]


def _ignore(event: Event) -> None:
    """Takes an event that nobody follows. Other processes can be given it, unlike a lambda."""


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """Options of a run.

    Attributes:
        name: Name of the run's folder below the root; the recipe's name if it is not given.
        verbose: True to print the output of TFX and TensorFlow, instead of keeping it in the log alone.
        on_event: Function that is called with each event (see `firth.pipelines.events`), from this thread or
            another.
        beam_pipeline_args: Options of Beam, a runner's among them; without any, it runs in this process.
        reuse_folder: True to run in the folder even if made from another recipe, other sources or data.
        metadata: Path of a file of SQLite, or URL of a database without its password, which runs may share;
            that of the recipe, or a file in the run's folder, if it is not given.
        records: Labelled data of the recipe, if they have been read already.
        loading: Function that returns the context in which TFX is loaded.
    """

    name: str | None = None
    verbose: bool = False
    on_event: OnEvent = _ignore
    beam_pipeline_args: Sequence[str] = ()
    reuse_folder: bool = False
    metadata: str = ""
    records: "HandedData | None" = None
    loading: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext


_USUAL = RunOptions()


def run(
    recipe: Recipe,
    root: str | os.PathLike[str],
    options: RunOptions = _USUAL,
) -> RunResult:
    """Runs the pre-training pipeline of a recipe in `root/name`, reusing whatever has not changed.

    Raises:
        RunFolderError: if the name is not that of a folder, or the folder was made from something else.
        RunLockedError: if another process runs there.
        RunFailedError: if a component fails; the same call continues where it stopped.
    """
    return _run(_Job(recipe, root, options, create_local_pipeline), collect_run)


def curate(
    recipe: Recipe,
    root: str | os.PathLike[str],
    options: RunOptions = _USUAL,
) -> CurationResult:
    """Runs the corpus part of a recipe's pipeline alone; `run` in the same folder continues from it."""
    return _run(_Job(recipe, root, options, _create_curation_pipeline), collect_curation)


def finetune(
    recipe: AdaptingRecipe,
    root: str | os.PathLike[str],
    options: RunOptions = _USUAL,
) -> RunResult:
    """Runs the fine-tuning pipeline of a recipe in `root/name`, reusing whatever has not changed."""
    from firth.tasks.labelled.data import handing_down

    with handing_down(options.records):
        return _run(_Job(recipe, root, options, create_local_finetuning_pipeline), collect_run)


@dataclasses.dataclass(frozen=True)
class _Job:
    """A recipe to run, and the function that makes its pipeline."""

    recipe: Any
    root: str | os.PathLike[str]
    options: RunOptions
    make_pipeline: MakePipeline

    @functools.cached_property
    def run_dir(self) -> pathlib.Path:
        name = self.options.name
        return run_folder(self.root, self.recipe.name if name is None else name)


def _run(job: _Job, collect: Collect[Result]) -> Result:
    recipe, run_dir, options = job.recipe, job.run_dir, job.options
    with _locked(run_dir), storage.keeping_temporary_files():
        refuse_imported(run_dir)
        if not options.reuse_folder:
            require_same_origin(run_dir, recipe)
        if changes := changed_keys(run_dir, recipe):
            options.on_event({"kind": "changes", "lines": changes})
        if not getattr(recipe, "source_schema", None) and sources_changed(run_dir, recipe):
            set_schema_aside(run_dir)
        log_path = logs.new_log_path(run_dir)
        quiet = logs.logging_to(log_path) if options.verbose else logs.output_in(log_path)
        with quiet:
            keep_metadata_in(run_dir, options.metadata or recipe.metadata or "")
            remember_recipe(run_dir, recipe)
            return collect(run_dir, _execute(job, log_path), log_path)


@contextlib.contextmanager
def _locked(run_dir: pathlib.Path) -> Iterator[None]:
    lock = filelock.FileLock(run_dir / LOCK_FILE)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise RunLockedError(
            f"{run_dir} is in use by another run; wait for it, or give this one a --name of its own"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _execute(job: _Job, log_path: pathlib.Path) -> tuple[ComponentResult, ...]:
    timings = Timings(job.run_dir / TIMINGS_FILE)
    estimate = RunEstimate(earlier_times(job.run_dir))
    ended: list[ComponentResult] = []

    def follow(event: Event) -> None:
        event = estimate.completed(event)
        timings.record(event)
        if event["kind"] == "component" and event["state"] in ("finished", "cached"):
            ended.append(ComponentResult(**{key: event[key] for key in ComponentResult.__annotations__}))
            if event["name"] == _READER and job.options.records is not None:
                # From the cache, it has not taken them.
                job.options.records.found = None
        job.options.on_event(event)

    with (
        reporting(follow, estimate.begin) as components,
        end_children_on_signals(lambda: follow({"kind": "stopping"})),
    ):
        try:
            _run_pipeline(job, components)
        except Exception as error:
            component, page = components.current, None
            # The first error is reported, even if cleaning up after it fails too.
            with contextlib.suppress(OSError):
                components.end("failed")
            with contextlib.suppress(OSError), open(log_path, "a", encoding="utf-8") as log:
                traceback.print_exc(file=log)
            problem = full_disk(error, job.run_dir)
            if component and not problem:
                with contextlib.suppress(Exception):
                    page = _corpus_page(job.run_dir)
            raise RunFailedError(component, problem or explain(error), log_path, page) from error
    return tuple(ended)


def _corpus_page(run_dir: pathlib.Path) -> pathlib.Path | None:
    """Returns the page on the corpus that the failed run wrote, put into its folder."""
    outputs = outputs_of(run_dir)
    copy_pages(run_dir, outputs)
    return run_dir / CORPUS_PAGE_FILE if outputs.get("CorpusReporter") else None


def _run_pipeline(job: _Job, components: ComponentEvents) -> None:
    with _not_collecting(), job.options.loading():
        pipeline, runner = _prepared(job, components)
    from firth.pipelines.beam_lookups import remembered_lookups
    from firth.serving import forget_client

    try:
        with remembered_lookups():
            runner.run(pipeline)
    finally:
        forget_client()


@contextlib.contextmanager
def _not_collecting() -> Iterator[None]:
    """Turns garbage collection off meanwhile, and afterwards for the objects made so far.

    The million objects of TensorFlow and TFX all stay, and looking through them costs seconds.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        if not gc.get_freeze_count():
            gc.freeze()
    finally:
        if was_enabled:
            gc.enable()


def _prepared(job: _Job, components: ComponentEvents) -> tuple[Any, Any]:
    """Returns the pipeline and its runner. TFX is loaded by now."""
    # This comes first: workers import in a process of their own while this process continues.
    from firth.corpus import fork_workers

    fork_workers(job.options.beam_pipeline_args)
    # Logical devices can only be made before anything touches TensorFlow's context.
    from firth.training.strategies import prepare_devices

    prepare_devices(job.recipe.training, is_pipeline=True)
    from firth.pipelines.leftovers import remove_dangling_rows, remove_leftovers
    from firth.pipelines.observed_runner import ObservedDagRunner

    run_dir, metadata = job.run_dir, metadata_of(job.run_dir)
    # In a store that others share, another run may be active.
    remove_dangling_rows(run_dir / METADATA_FILE)
    remove_leftovers(run_dir / PIPELINE_FOLDER, metadata, run_dir / SERVING_FOLDER)
    pipeline = job.make_pipeline(job.recipe, run_dir, job.options.beam_pipeline_args)
    if metadata.pipeline:
        pipeline.pipeline_info.pipeline_name = metadata.pipeline
    return pipeline, ObservedDagRunner(components)


def create_local_pipeline(
    recipe: Recipe, run_dir: pathlib.Path, beam_pipeline_args: Sequence[str] = ()
) -> "Pipeline":
    """Returns the recipe's pipeline with all of its folders below `run_dir`."""
    from firth.pipelines.pretrain import create_pipeline

    places = {**_corpus_places(recipe, run_dir), **_trained_places(run_dir)}
    return create_pipeline(recipe, **places, beam_pipeline_args=beam_pipeline_args)


def _create_curation_pipeline(
    recipe: Recipe, run_dir: pathlib.Path, beam_pipeline_args: Sequence[str]
) -> "Pipeline":
    from firth.pipelines.corpus import create_pipeline

    places = _corpus_places(recipe, run_dir)
    return create_pipeline(recipe, **places, beam_pipeline_args=beam_pipeline_args)


def create_local_finetuning_pipeline(
    recipe: AdaptingRecipe, run_dir: pathlib.Path, beam_pipeline_args: Sequence[str] = ()
) -> "Pipeline":
    """Returns the pipeline of a recipe that adapts a model, with all of its folders below `run_dir`."""
    from firth.pipelines.finetune import create_pipeline

    places = {**_places(run_dir), **_trained_places(run_dir)}
    return create_pipeline(recipe, **places, beam_pipeline_args=beam_pipeline_args)


def _places(run_dir: pathlib.Path) -> dict[str, Any]:
    return {
        "pipeline_root": str(run_dir / PIPELINE_FOLDER),
        "metadata_path": metadata_of(run_dir).place,
    }


def _corpus_places(recipe: Recipe, run_dir: pathlib.Path) -> dict[str, Any]:
    return {**_places(run_dir), "source_schema": recipe.source_schema or schema_of(run_dir)}


def _trained_places(run_dir: pathlib.Path) -> dict[str, Any]:
    return {
        "serving_dir": str(run_dir / SERVING_FOLDER),
        "checkpoint_root": str(run_dir / "checkpoints"),
        "run_dir": str(run_dir),
    }
