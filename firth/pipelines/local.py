"""Runs a recipe's pipeline on this machine, in one folder, with a lock, a log and timings."""

import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import shutil
import traceback
from collections.abc import Callable, Iterator

import filelock

from firth.pipelines import logs
from firth.pipelines.events import Event, Timings, listening
from firth.recipes import Recipe
from firth.recipes.loading import recipe_to_yaml

Outputs = dict[str, dict[str, pathlib.Path]]

LOCK_FILE = ".lock"
RECIPE_FILE = "recipe.yaml"
REPORT_FILE = "report.html"
SUMMARY_FILE = "run.json"


class RunLockedError(RuntimeError):
    """Another process is running in the same folder."""


class RunFailedError(RuntimeError):
    """A component failed.

    Attributes:
        component: Its TFX id; None where the run failed before the first component.
        message: What went wrong, in a sentence or two.
        log_path: Where the whole story stands.
    """

    def __init__(self, component: str | None, message: str, log_path: pathlib.Path):
        super().__init__(f"{component or 'the run'} failed: {message}")
        self.component, self.message, self.log_path = component, message, log_path


@dataclasses.dataclass(frozen=True)
class ComponentResult:
    """How one component ended: `finished` or `cached`, in seconds and bytes of peak resident memory."""

    name: str
    state: str
    seconds: float
    peak_bytes: int


@dataclasses.dataclass(frozen=True)
class RunResult:
    """What a run left behind.

    Attributes:
        run_dir: The run's folder.
        components: In the order in which they ended.
        blessed: Whether the model kept all its thresholds and answered as a server would ask it.
        pushed: The served version's folder; None where there is none.
        evaluation: Metrics by slice, as `firth.evaluation.load_evaluation` gives them.
        outputs: The folder of each component's outputs, cached ones included.
        log_path: The run's log.
    """

    run_dir: pathlib.Path
    components: tuple[ComponentResult, ...]
    blessed: bool
    pushed: pathlib.Path | None
    evaluation: dict[str, dict[str, float]]
    outputs: Outputs
    log_path: pathlib.Path


def run(
    recipe: Recipe,
    root: str | os.PathLike[str],
    name: str | None = None,
    verbose: bool = False,
    on_event: Callable[[Event], None] = lambda event: None,
) -> RunResult:
    """Runs the pre-training pipeline of a recipe in `root/name`, reusing whatever has not changed.

    Args:
        recipe: What to run.
        root: Folder of all runs.
        name: The run's folder below it; the recipe's name where it is not given.
        verbose: Print what TFX and TensorFlow print, instead of keeping it in the log alone.
        on_event: Called with each event (see `firth.pipelines.events`), from this thread or another.

    Raises:
        RunLockedError: if another process runs there.
        RunFailedError: if a component fails; the same call goes on where it stopped.
    """
    run_dir = pathlib.Path(root).resolve() / (name or recipe.name)
    run_dir.mkdir(parents=True, exist_ok=True)
    with _locked(run_dir):
        log_path = logs.new_log_path(run_dir)
        quiet = logs.logging_to(log_path) if verbose else logs.output_in(log_path)
        with quiet:
            return _run_locked(recipe, run_dir, log_path, on_event)


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


def _run_locked(
    recipe: Recipe, run_dir: pathlib.Path, log_path: pathlib.Path, on_event: Callable[[Event], None]
) -> RunResult:
    timings = Timings(run_dir / "timings.json")
    ended: list[ComponentResult] = []

    def follow(event: Event) -> None:
        timings.record(event)
        if event["kind"] == "component" and event["state"] in ("finished", "cached"):
            ended.append(ComponentResult(**{key: event[key] for key in ComponentResult.__annotations__}))
        on_event(event)

    with listening(follow) as listener:
        try:
            _execute(recipe, run_dir)
        except Exception as error:
            component = listener.current
            listener.close_component("failed")
            _log_traceback(log_path)
            raise RunFailedError(component, explain(error), log_path) from error
    return _finish(run_dir, tuple(ended), log_path)


def _finish(run_dir: pathlib.Path, ended: tuple[ComponentResult, ...], log_path: pathlib.Path) -> RunResult:
    from firth.pipelines.lineage import newest_outputs

    outputs = newest_outputs(run_dir / "metadata.sqlite")
    _copy_report(run_dir, outputs)
    result = RunResult(
        run_dir,
        ended,
        _is_blessed(outputs),
        _newest_version(run_dir),
        _evaluation(outputs),
        outputs,
        log_path,
    )
    _write_summary(result)
    return result


def _evaluation(outputs: Outputs) -> dict[str, dict[str, float]]:
    from firth.evaluation import load_evaluation

    folder = outputs.get("Evaluator", {}).get("evaluation")
    return load_evaluation(str(folder)) if folder is not None else {}


def _write_summary(result: RunResult) -> None:
    """Writes `run.json`, from which `firth runs` and `firth predict` read without loading TFX."""
    summary = {
        "finished": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "blessed": result.blessed,
        "pushed": str(result.pushed) if result.pushed else None,
        "evaluation": result.evaluation,
        "outputs": {
            name: {key: str(path) for key, path in of.items()} for name, of in result.outputs.items()
        },
    }
    temporary = result.run_dir / f"{SUMMARY_FILE}.partial"
    temporary.write_text(json.dumps(summary, indent=1), encoding="utf-8")
    os.replace(temporary, result.run_dir / SUMMARY_FILE)


def _execute(recipe: Recipe, run_dir: pathlib.Path) -> None:
    (run_dir / RECIPE_FILE).write_text(recipe_to_yaml(recipe), encoding="utf-8")
    # Logical devices can only be made before anything touches TensorFlow's context.
    from firth.training.distribution import prepare_devices

    prepare_devices(recipe.training)
    from tfx.orchestration.local.local_dag_runner import LocalDagRunner

    LocalDagRunner().run(create_local_pipeline(recipe, run_dir))


def create_local_pipeline(recipe: Recipe, run_dir: pathlib.Path):
    """Returns the recipe's pipeline with everything it keeps below `run_dir`."""
    from firth.pipelines.pretrain import create_pipeline

    return create_pipeline(
        recipe,
        str(run_dir / "pipeline"),
        serving_dir=str(run_dir / "serving"),
        checkpoint_root=str(run_dir / "checkpoints"),
        run_dir=str(run_dir),
        metadata_path=str(run_dir / "metadata.sqlite"),
    )


def _log_traceback(log_path: pathlib.Path) -> None:
    with contextlib.suppress(OSError), open(log_path, "a", encoding="utf-8") as log:
        traceback.print_exc(file=log)


def explain(error: BaseException) -> str:
    """Returns what an error says, without the annotations that Beam and TFX wrap around it.

    Example:

    >>> explain(OSError(28, "No space left on device", "/runs/x"))
    "[Errno 28] No space left on device: '/runs/x'"
    >>> explain(ValueError("no text [while running 'Read/Map']"))
    'no text'
    """
    message = str(error).split(" [while running")[0].strip()
    if "\n" in message and "Traceback (most recent call last)" in message:
        message = message.splitlines()[-1]
    return message or type(error).__name__


def _copy_report(run_dir: pathlib.Path, outputs: Outputs) -> None:
    folder = outputs.get("Reporter", {}).get("report")
    if folder is not None:
        temporary = run_dir / f"{REPORT_FILE}.partial"
        shutil.copyfile(folder / REPORT_FILE, temporary)
        os.replace(temporary, run_dir / REPORT_FILE)


def _is_blessed(outputs: Outputs) -> bool:
    """Whether both the Evaluator and the ServingValidator blessed the model."""
    evaluation = outputs.get("Evaluator", {}).get("blessing")
    serving = outputs.get("ServingValidator", {}).get("blessing")
    blessed = evaluation is not None and (evaluation / "BLESSED").exists()
    return blessed and serving is not None and (serving / "INFRA_BLESSED").exists()


def _newest_version(run_dir: pathlib.Path) -> pathlib.Path | None:
    # The Pusher copies saved_model.pb last: a version without it was cut short.
    versions = [path.parent for path in (run_dir / "serving").glob("*/saved_model.pb")]
    return max(versions, key=lambda path: int(path.name), default=None)
