"""The page on a run that adapts a model: its data from artifacts, and one self-contained HTML page."""

import dataclasses
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from firth import features as names, storage
from firth.evaluation.constant_answers import CONSTANT, comparison_sentences
from firth.evaluation.record_scores import CLEAN, EXAMPLE_COUNT, LEAD, OVERALL
from firth.recipes import recipe_to_yaml
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.task import Task
from firth.reports import plots
from firth.reports.collect import ReportInputs, collect_run, read_json_in
from firth.reports.page import count, render_page, tensorboard_command
from firth.reports.quantities import seconds_text
from firth.reports.record import RunRecord
from firth.reports.task_scores import (
    clean_scores,
    contamination_line,
    held_out_scores,
    served_line,
    whole_and_clean,
)
from firth.reports.threshold_results import COUNTS, overall, threshold_results
from firth.scores import Collected

# Each has a template of its own, `section_<id>.html.j2`.
SECTIONS = (
    ("scores", "Scores"),
    ("answers", "Answers"),
    ("training", "Training"),
    ("records", "Labelled records"),
    ("serving", "Serving validation"),
    ("cost", "Time and memory"),
    ("recipe", "Recipe"),
    ("lineage", "Lineage and versions"),
)
# Slices that stand next to the whole, and not in the table of slices.
_OWN_COLUMNS = (OVERALL, CLEAN, LEAD)
# A table of more classes is too large to be read.
MOST_CLASSES = 40
# Rows are in the order of a hash, so that the first ones are a sample.
MOST_ROWS = 1000
WRONG = 12
_BATCH = 64
_LONGEST = 300


@dataclasses.dataclass(frozen=True)
class Confusion:
    """Counts of the predicted classes for each right class.

    Attributes:
        labels: Names of the classes.
        counts: For each right class, the numbers of predictions of each class.
    """

    labels: Sequence[str]
    counts: Sequence[Sequence[int]]

    @property
    def answers(self) -> int:
        """Number of answers that are counted."""
        return sum(map(sum, self.counts))

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> "Confusion | None":
        """Returns the table of some answers; None without answers, or with too many classes to be read.

        Example:

        >>> Confusion.of([("no", "no"), ("yes", "no")])
        Confusion(labels=('no', 'yes'), counts=[[1, 0], [1, 0]])
        """
        labels = tuple(sorted({label for pair in pairs for label in pair}))
        if not 0 < len(labels) <= MOST_CLASSES:
            return None
        places = {label: place for place, label in enumerate(labels)}
        counts = [[0] * len(labels) for _ in labels]
        for right, given in pairs:
            counts[places[right]][places[given]] += 1
        return cls(labels, counts)


@dataclasses.dataclass(frozen=True)
class WrongAnswer:
    """A held-out record that the model answers otherwise than its label.

    Attributes:
        texts: Texts of the record by their roles.
        right: Its label.
        given: Answer of the model.
    """

    texts: Mapping[str, str]
    right: str
    given: str


@dataclasses.dataclass(frozen=True)
class TaskRecord:
    """Data of a run that adapts a model, next to its `RunRecord`.

    Attributes:
        records: Report of LabelledExampleGen; None if it was not recorded.
        rows: Report of TaskRowGen by split.
        skew: How the splits differ, as `firth.tasks.labelled.validation.find_skew` returns it.
        start: The start of the model, as `firth.training.run_start` writes it; None if not known.
        trained: Number of parameters that the method trains; None if it was not counted.
        contamination: Report on held-out records in the corpora of the base, as
            `firth.corpus.decontamination.evidence.HeldOutSearch.report` returns it; empty if not known.
        asked: Number of held-out records that the exported model was asked about.
        confusion: Its answers by class; None for a task without classes.
        wrong: Some of its wrong answers.
    """

    records: Mapping[str, Any] | None = None
    rows: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    skew: Sequence[Mapping[str, Any]] = ()
    start: Mapping[str, Any] | None = None
    trained: int | None = None
    contamination: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    asked: int = 0
    confusion: Confusion | None = None
    wrong: Sequence[WrongAnswer] = ()


@dataclasses.dataclass(frozen=True)
class TaskReportInputs:
    """Folders of a run's artifacts; an empty path is that of an artifact which does not exist.

    Attributes:
        recipe: Recipe of the run, with its labels.
        run: Folders for the page on any run.
        records: Folder of LabelledExampleGen's examples, with `report.json`.
        rows: Folder of TaskRowGen's examples, with `report.json`.
        found: Folder of TaskDataValidator's `skew.json`.
    """

    recipe: AdaptingRecipe
    run: ReportInputs
    records: str = ""
    rows: str = ""
    found: str = ""


def collect_task(inputs: TaskReportInputs) -> tuple[RunRecord, TaskRecord]:
    """Returns everything that the page shows; fields of artifacts that do not exist are left empty."""
    made = read_json_in(inputs.rows, "report.json") or {}
    rows = made.get("splits", {})
    recipe = inputs.recipe
    if train := rows.get("train"):
        recipe = recipe.scheduled(train["rows"], train["records"])
    run = collect_run(dataclasses.replace(inputs.run, recipe=recipe))
    can_ask = bool(inputs.run.model and inputs.rows and inputs.records and recipe.task.score_names)
    answers = ask_rows(inputs.run.model, inputs.rows, recipe.task) if can_ask else []
    return run, TaskRecord(
        records=read_json_in(inputs.records, "report.json"),
        rows=rows,
        skew=read_json_in(inputs.found, "skew.json") or (),
        start=read_json_in(inputs.run.model_run, "start.json"),
        trained=_trained(recipe),
        contamination=made.get("contamination", {}),
        asked=len(answers),
        confusion=confusion_of(answers),
        wrong=wrong_answers(answers, inputs.records) if answers else (),
    )


def _trained(recipe: AdaptingRecipe) -> int:
    from firth.tuning import trainable_parameters

    return trainable_parameters(recipe)


def ask_rows(model: str, examples: str, task: Task) -> list[Collected]:
    """Returns the held-out records of the first rows with the exported model's answers."""
    from firth.serving import shared_client
    from firth.tasks import TASKS

    client, kind = shared_client(model), TASKS[task.kind]
    rows = itertools.islice(_records(examples), MOST_ROWS)
    found: list[Collected] = []
    while batch := list(itertools.islice(rows, _BATCH)):
        outputs = client.evaluate(batch)
        for place, row in enumerate(batch):
            of_row = {name: values[place] for name, values in outputs.items()}
            source, details = _not_asked(row)
            found += kind.collected(task, {**of_row, **details}, source)
    join = getattr(kind, "joined", None)
    # The windows of a question may be in several rows, and some of these were not asked.
    return found if join is None else join(task, found, whole=False)["examples"]


def confusion_of(answers: Iterable[Collected]) -> Confusion | None:
    """Returns the classes, or tags, that were predicted; None if answers are neither."""
    pairs: list[tuple[str, str]] = []
    for each in answers:
        match each.reference, each.prediction:
            case str() as right, str() as given:
                pairs.append((right, given))
            case [str(), *_] as right, [str(), *_] as given if len(right) == len(given):
                pairs += zip(right, given)
            case _:
                return None
    return Confusion.of(pairs)


def wrong_answers(answers: Sequence[Collected], records: str) -> list[WrongAnswer]:
    """Returns some of the wrong answers with the texts that they are about: of numbers the worst ones."""
    from firth.tasks.labelled.examples import from_example
    from firth.tasks.texts import key_of

    wrong = [each for each in answers if _is_wrong(each.reference, each.prediction)]
    chosen = {each.id: each for each in sorted(wrong, key=_badness)[:WRONG]}
    shown = {}
    for record, _ in map(from_example, _records(records)):
        if (key := str(key_of(record.id))) in chosen:
            texts = {role: _shortened(text) for role, text in record.texts.items()}
            shown[key] = WrongAnswer(texts, _text(chosen[key].reference), _text(chosen[key].prediction))
    return [shown[key] for key in chosen if key in shown]


def _is_wrong(reference: Any, prediction: Any) -> bool:
    """Returns true if an answer is wrong; false for kinds of answers that cannot be compared."""
    match reference, prediction:
        case (str(), str()) | ([str(), *_], [str(), *_]):
            return list(reference) != list(prediction)
        case float(), float():
            return reference != prediction
        case [str(), *_], str():
            return prediction not in reference
    return False


def _badness(answer: Collected) -> tuple[float, str]:
    if isinstance(answer.reference, float):
        return -abs(answer.reference - answer.prediction), answer.id
    return 0.0, answer.id


def _shortened(text: str | Sequence[str]) -> str:
    whole = text if isinstance(text, str) else " ".join(text)
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}…"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return _shortened(value if isinstance(value, str) else [str(each) for each in value])


def _records(folder: str) -> Iterator[bytes]:
    from firth.corpus.io.records import read_records

    for path in storage.glob(os.path.join(folder, "Split-eval", "*")):
        yield from read_records(path)


def _not_asked(row: bytes) -> tuple[str, dict[str, Any]]:
    """Returns a row's source, and the details that scores need and no model reads."""
    from firth.corpus.documents.example import Example

    fields = Example.FromString(row).features.feature
    sources = fields[names.SOURCE].bytes_list.value
    details = list(fields[names.RECORD_DETAILS].bytes_list.value)
    source = sources[0].decode("utf-8", "replace") if sources else ""
    return source, {names.RECORD_DETAILS: details} if details else {}


def render_task_report(record: RunRecord, task: TaskRecord) -> str:
    """Returns the page. It needs no script and nothing from outside, and escapes all text of records.

    Example: see `tests/reports/task_report_test.py`.
    """
    metrics, goal = overall(record.evaluation), record.recipe.goal
    scores = held_out_scores(metrics, goal.score_names)
    # A row may hold several short records, so its count next to the scores would be read as theirs.
    named = {*COUNTS, *goal.comparison_metrics}
    named |= {name for each in goal.score_names for name in (each, f"{each}_low", f"{each}_high")}
    return render_page(
        kind="task report",
        title=record.recipe.name,
        description=record.recipe.description,
        record=record,
        task=task,
        sections=SECTIONS,
        scores=scores,
        tokenizers={each.name: goal.score_options(each.name).get("tokenize") for each in scores},
        others={name: value for name, value in metrics.items() if name not in named},
        slices={
            name: each
            for name, each in record.evaluation.items()
            if name not in _OWN_COLUMNS and not name.startswith(CONSTANT)
        },
        comparisons=list(comparison_sentences(record.evaluation, goal).values()),
        beats_constant=record.recipe.evaluation.compares_with_constant,
        served=served_line((record.serving or {}).get("held_out")),
        lead={each.name: each for each in held_out_scores(record.evaluation.get(LEAD, {}), goal.score_names)},
        clean={each.name: each for each in clean_scores(record.evaluation, goal.score_names)},
        whole_and_clean=whole_and_clean(record.evaluation),
        contamination=contamination_line(task.contamination),
        score_names=[each.name for each in scores],
        example_count=metrics.get(EXAMPLE_COUNT),
        threshold_results=threshold_results(record.recipe.evaluation, record.recipe.goal, metrics)
        if record.recipe.evaluation.thresholds
        else [],
        headline=_headline(record, task, metrics),
        training_plots=plots.training_plots(record.history, goal.loss_terms),
        tensorboard=tensorboard_command(record.curves) if record.curves else "",
        recipe_yaml=recipe_to_yaml(record.recipe),
        slowest=max((timing.get("seconds") or 0.0 for timing in record.timings.values()), default=0.0),
    )


def _headline(record: RunRecord, task: TaskRecord, metrics: dict[str, float]) -> list[tuple[str, str, str]]:
    """Returns the page's first figures: name, value, and a figure to compare it with."""
    states = {True: "yes", False: "no", None: "not recorded"}
    seconds = sum(timing.get("seconds") or 0.0 for timing in record.timings.values())
    splits = (task.records or {}).get("splits", {})
    kept = {name: split["kept"] for name, split in splits.items()}
    scores = [
        (f"Held-out {each.name.replace('_', ' ')}", f"{each.value:.3f}", _interval(each.low, each.high))
        for each in held_out_scores(metrics, record.recipe.goal.score_names)[:1]
    ]
    return [
        *(scores or [("Held-out scores", "not recorded", "")]),
        ("Blessed", states[record.blessed], f"pushed: {states[record.pushed]}"),
        ("Records to train on", count(kept.get("train")), f"held out: {count(kept.get('eval'))}"),
        (
            "Parameters trained",
            count(task.trained),
            f"backbone: {count(record.parameters.get('total'))}",
        ),
        ("Wall time", seconds_text(seconds) if record.timings else "not recorded", "of all components"),
    ]


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"95% interval {low:.3f} to {high:.3f}"
