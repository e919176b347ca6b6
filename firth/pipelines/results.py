"""The results of a local run, and the reasons why its model is not blessed."""

import dataclasses
import datetime
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from firth import storage
from firth.pipelines.run_metadata import metadata_of
from firth.serving import exported_model
from firth.storage import BUNDLE_FOLDER, is_whole

if TYPE_CHECKING:
    from firth.pipelines.lineage import Outputs

REPORT_FILE = "report.html"
CORPUS_PAGE_FILE = "corpus_report.html"
SUMMARY_FILE = "run.json"
# Files of a run's folder that its summary belongs to: another recipe, or another end of a component, and it
# is that of an earlier run, whatever the clock says of the files.
MADE_OF = ("recipe.yaml", "timings.json")
# In the folder of the training's curve.
START_FILE = "start.json"
# In the folder of a task's rows.
ROWS_REPORT = "report.json"
# The component and output that hold pages, and their places in a run's folder.
_PAGES = (
    ("Reporter", "report", REPORT_FILE),
    ("TaskReporter", "report", REPORT_FILE),
    ("CorpusReporter", "page", CORPUS_PAGE_FILE),
)
SERVING_REPORT = "serving_report.json"


@dataclasses.dataclass(frozen=True)
class ComponentResult:
    """The end of one component.

    Attributes:
        name: Id of the component.
        state: State in which it ended, `finished` or `cached`.
        seconds: Wall time in seconds.
        peak_bytes: Peak of the resident memory, in bytes.
    """

    name: str
    state: str
    seconds: float
    peak_bytes: int


@dataclasses.dataclass(frozen=True)
class CurationResult:
    """The result of a run of the corpus part.

    Attributes:
        run_dir: Folder of the run.
        components: Components in the order in which they ended.
        outputs: Folders of each component's outputs, cached ones included.
        log_path: Path of the run's log.
        new_schema: Path of the schema of the sources' records, if this run wrote it; None if the folder had
            one.
    """

    run_dir: pathlib.Path
    components: tuple[ComponentResult, ...]
    outputs: "Outputs"
    log_path: pathlib.Path
    new_schema: pathlib.Path | None


@dataclasses.dataclass(frozen=True)
class RunResult(CurationResult):
    """The result of a run.

    Attributes:
        blessed: True if the model kept all its thresholds and passed the serving validation.
        pushed: Version to which this run pushed its model; None if it did not push.
        served: Version that a server takes, which may be that of an earlier run; None if no run has pushed.
        reasons: Reasons why the model is not blessed; empty for a blessed model.
        evaluation: Metrics by slice, as `firth.evaluation.load_evaluation` returns them.
    """

    blessed: bool
    pushed: pathlib.Path | None
    served: pathlib.Path | None
    reasons: tuple[str, ...]
    evaluation: dict[str, dict[str, float]]

    @property
    def bundle(self) -> pathlib.Path | None:
        """Folder for `firth.models.load_model`, whether blessed or not; None before training."""
        model = self.outputs.get("Trainer", {}).get("model")
        return model / BUNDLE_FOLDER if model is not None and is_whole(model / BUNDLE_FOLDER) else None

    @property
    def contamination(self) -> dict[str, Any] | None:
        """Held-out records found in the corpora of the base; None for a run of no task.

        See `firth.corpus.decontamination.evidence.HeldOutSearch.report`; empty where nothing is known.
        """
        rows = self.outputs.get("TaskRowGen", {}).get("examples")
        return (storage.read_json(rows / ROWS_REPORT) or {}).get("contamination", {}) if rows else None

    @property
    def start(self) -> dict[str, Any] | None:
        """The start of the run's model, as `firth.training.run_start` writes it; None for no base."""
        curve = self.outputs.get("Trainer", {}).get("model_run")
        return storage.read_json(curve / START_FILE) if curve is not None else None


def collect_curation(
    run_dir: pathlib.Path, ended: tuple[ComponentResult, ...], log_path: pathlib.Path
) -> CurationResult:
    """Returns the result of the newest run in a folder, and puts its page there."""
    # It loads the recipe types, which commands on the results of a run do without.
    from firth.pipelines.run_folder import propose_schema

    outputs = outputs_of(run_dir)
    copy_pages(run_dir, outputs)
    return CurationResult(run_dir, ended, outputs, log_path, propose_schema(run_dir, outputs))


def collect_run(
    run_dir: pathlib.Path, ended: tuple[ComponentResult, ...], log_path: pathlib.Path
) -> RunResult:
    """Returns the result of the newest run in a folder, and puts its pages and its summary there."""
    from firth.pipelines.lineage import newest_push

    of_corpus = collect_curation(run_dir, ended, log_path)
    outputs, pushed = of_corpus.outputs, newest_push(metadata_of(run_dir))
    result = RunResult(
        **vars(of_corpus),
        blessed=_is_blessed(outputs),
        reasons=reasons_against(outputs),
        pushed=pushed if pushed is not None and storage.exists(pushed) else None,
        served=newest_version(run_dir / "serving"),
        evaluation=_evaluation(outputs),
    )
    _write_summary(result)
    return result


def outputs_of(run_dir: pathlib.Path) -> "Outputs":
    """Returns the folders of the newest run's outputs."""
    from firth.pipelines.lineage import newest_outputs

    return newest_outputs(metadata_of(run_dir))


def copy_pages(run_dir: pathlib.Path, outputs: "Outputs") -> None:
    """Copies the pages of a run into its folder."""
    for component, output, file in _PAGES:
        folder = outputs.get(component, {}).get(output)
        if folder is not None:
            storage.copy_file(folder / file, run_dir / file)


def _evaluation(outputs: "Outputs") -> dict[str, dict[str, float]]:
    from firth.evaluation import load_evaluation

    folder = outputs.get("Evaluator", {}).get("evaluation")
    return load_evaluation(str(folder)) if folder is not None else {}


def _write_summary(result: RunResult) -> None:
    """Writes `run.json`, from which `firth runs` and `firth predict` read without loading TFX."""
    summary = {
        "finished": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "blessed": result.blessed,
        "reasons": result.reasons,
        "pushed": str(result.pushed) if result.pushed else None,
        "served": str(result.served) if result.served else None,
        "bundle": str(result.bundle) if result.bundle else None,
        "base": result.start["bundle"] if result.start else None,
        "evaluation": result.evaluation,
        "made_of": {name: _digest(result.run_dir / name) for name in MADE_OF},
        **({} if result.contamination is None else {"contamination": result.contamination}),
        "outputs": {
            name: {key: str(path) for key, path in of.items()} for name, of in result.outputs.items()
        },
    }
    storage.write_json(result.run_dir / SUMMARY_FILE, summary, indent=1)


def _digest(path: pathlib.Path) -> str:
    return storage.digest_of(path).hex() if storage.exists(path) else ""


def _is_blessed(outputs: "Outputs") -> bool:
    """Returns true if both the Evaluator and the ServingValidator blessed the model."""
    evaluation = outputs.get("Evaluator", {}).get("blessing")
    serving = outputs.get("ServingValidator", {}).get("blessing")
    blessed = evaluation is not None and storage.exists(evaluation / "BLESSED")
    return blessed and serving is not None and storage.exists(serving / "INFRA_BLESSED")


def held_out_rows(run_dir: str | os.PathLike[str], count: int) -> list[bytes]:
    """Returns the first rows that a run's model was evaluated on, serialized; none if the run has none.

    Raises:
        firth.training.rows.RowsError: naming a file that cannot be read.
    """
    from firth.training.held_out import first_rows

    summary = storage.read_json_object(os.path.join(run_dir, SUMMARY_FILE))
    for outputs in summary.get("outputs", {}).values():
        examples = outputs.get("examples", "")
        # Rows are next to the tokenizer that they were made with; the examples before them are not.
        if examples and storage.is_folder(os.path.join(examples, "tokenizer")):
            return first_rows([os.path.join(examples, "Split-eval", "*")], count)
    return []


def reasons_against(outputs: "Outputs") -> tuple[str, ...]:
    """Returns the reasons why a run's model is not blessed, in words; empty for a blessed model.

    Each metric out of its bounds and each request that the exported model failed is a reason.
    """
    return (*_of_evaluation(outputs.get("Evaluator", {})), *_of_serving(outputs.get("ServingValidator", {})))


def _of_evaluation(made: Mapping[str, pathlib.Path]) -> Iterator[str]:
    if "evaluation" not in made:
        yield "it was not evaluated"
        return
    from firth.evaluation import load_thresholds

    missed = [result.text for result in load_thresholds(str(made["evaluation"])) if not result.ok]
    yield from missed
    if not missed and not storage.exists(made["blessing"] / "BLESSED"):
        yield "the Evaluator did not bless it (see the log)"


def _of_serving(made: Mapping[str, pathlib.Path]) -> Iterator[str]:
    if "report" not in made:
        yield "it was not tried as a server would ask it"
        return
    report = storage.read_json(made["report"] / SERVING_REPORT)
    yield from (f"the serving validation: {reason}" for reason in report["reasons"])


def newest_version(serving_dir: pathlib.Path) -> pathlib.Path | None:
    """Returns the version of a model that a server takes from a folder; None if the folder has no version."""
    version = exported_model.newest_version(str(serving_dir))
    return None if version is None else serving_dir / version
