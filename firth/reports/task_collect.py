"""Gathers the data of the page on a task from a run's artifacts."""

import dataclasses
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from firth import features as names, storage
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.task import Task
from firth.reports.collect import ReportInputs, collect_run, read_json_in
from firth.reports.record import RunRecord
from firth.scores import Collected

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
