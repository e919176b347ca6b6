"""GLUE with one model: a run for each task whose files are there, scores, and files for GLUE's site."""

import dataclasses
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from firth import storage
from firth.recipes.base.errors import first_of, suggest
from firth.recipes.base.file_names import suggest_path
from firth.recipes.reading.raw_recipes import Option
from firth.recipes.tasks.task import Task
from firth.scores import collect, compute
from firth.tasks.readers import FORMATS, LabelledRecord, RefusedFileError, read_split, split_file
from firth.tasks.readers.formats import has_split
from firth.tasks.readers.glue import GLUE
from firth.tasks.readers.labels import ClassLabels, NumberLabels
from firth.tasks.task_options import published_data, task_of_format

TRAIN, DEV = "train", "dev"
SCORES_FILE, SUBMISSION_FOLDER = "glue.json", "submission"
# The diagnostic set has no training split: MNLI's model answers it.
_ANSWERED_BY = {"ax": "mnli"}
# Texts that the model is asked about at a time.
_BATCH = 64
Predictions = Mapping[str, str | float]


@dataclasses.dataclass(frozen=True)
class GlueFiles:
    """The tasks of GLUE in a folder.

    Attributes:
        present: Names of the tasks that can be trained and scored.
        missing: For each other task, the files that are missing.
    """

    present: tuple[str, ...]
    missing: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class TaskAnswers:
    """The answers of a task's model to splits other than its dev split.

    Attributes:
        scores: Scores of further dev splits, by `<task>_<split>.<score>`.
        predictions: Answers to test splits by the file of the submission, and in it by the record's id.
        problems: Test splits with unreadable records, each with its problem.
    """

    scores: dict[str, float]
    predictions: dict[str, dict[str, Any]]
    problems: tuple[str, ...]


class SubmissionFile(NamedTuple):
    """One of the files of a submission.

    Attributes:
        task: Key of `firth.tasks.readers.FORMATS`.
        split: Name of the split, which has no labels.
        records: Number of its records; their ids are 0, 1, ...
    """

    task: str
    split: str
    records: int


# The site takes all of them at once, in one zip file.
SUBMISSION: dict[str, SubmissionFile] = {
    "AX.tsv": SubmissionFile("ax", "test", 1104),
    "CoLA.tsv": SubmissionFile("cola", "test", 1063),
    "MNLI-m.tsv": SubmissionFile("mnli", "test", 9796),
    "MNLI-mm.tsv": SubmissionFile("mnli", "test_mismatched", 9847),
    "MRPC.tsv": SubmissionFile("mrpc", "test", 1725),
    "QNLI.tsv": SubmissionFile("qnli", "test", 5463),
    "QQP.tsv": SubmissionFile("qqp", "test", 390965),
    "RTE.tsv": SubmissionFile("rte", "test", 3000),
    "SST-2.tsv": SubmissionFile("sst2", "test", 1821),
    "STS-B.tsv": SubmissionFile("stsb", "test", 1379),
    "WNLI.tsv": SubmissionFile("wnli", "test", 146),
}


class Submission(NamedTuple):
    """The files of a submission that were written.

    Attributes:
        written: Names of the files.
        missing: Names of the files that the site needs too.
    """

    written: tuple[str, ...]
    missing: tuple[str, ...]


def find_tasks(folder: str, wanted: Sequence[str] = ()) -> GlueFiles:
    """Returns the tasks of GLUE whose files are in a folder, and the files that are missing."""
    names = [name for name, described in GLUE.items() if TRAIN in described.files]
    for name in wanted:
        if name not in names:
            raise ValueError(f"{name!r} is not a task of GLUE; {suggest(name, names)}")
    if not storage.is_folder(folder):
        raise ValueError(f"--data: {folder}: there is no such folder{suggest_path(folder)}")
    present, missing = [], dict[str, str]()
    for name in wanted or names:
        try:
            for split in (TRAIN, DEV):
                split_file(name, folder, split)
            present.append(name)
        except RefusedFileError as error:
            missing[name] = str(error)
    if not present:
        raise ValueError(
            f"{folder}: there is no task of GLUE: {first_of([*missing.values()], separator='; ')}"
        )
    return GlueFiles(tuple(present), missing)


def options_of(task: str, folder: str) -> list[Option]:
    """Returns the data and the task of a recipe for a task of GLUE.

    Example:

    >>> options_of("rte", "glue")[1].value
    {'kind': 'classification', 'pair': True}
    """
    place = f"the task {task}"
    return [
        Option("data", published_data(task, folder), place),
        Option("task", task_of_format(task), place),
    ]


def scores_of(name: str, task: Task, evaluation: Mapping[str, float]) -> dict[str, float]:
    """Returns the scores of a run's dev split, by `<task>.<score>`."""
    return {f"{name}.{score}": evaluation[score] for score in task.score_names if score in evaluation}


def answer_splits(name: str, task: Task, folder: str, model: str | os.PathLike[str]) -> TaskAnswers:
    """Asks a pushed model about all splits of its task that are there but `train` and `dev`.

    Splits with labels are scored; those without are predicted, and never scored.
    """
    from firth.serving import Client

    client = Client(model)
    scores: dict[str, float] = {}
    for split in GLUE[name].files:
        if (
            split not in (TRAIN, DEV)
            and split not in GLUE[name].unlabelled
            and has_split(name, folder, split)
        ):
            records = read_split(name, folder, split).records
            references = {each.id: each.label for each in records}
            answers = {each.id: answer for each, answer in _answers(client, task, records)}
            column = f"{name}_{split.removeprefix(DEV).strip('_')}"
            for score in task.score_names:
                examples = collect(references, answers)
                scores[f"{column}.{score}"] = compute(score, examples, **task.score_options(score)).value
    predictions: dict[str, dict[str, Any]] = {}
    problems = []
    for file, described in _submission_files(name, folder):
        found = read_split(described.task, folder, described.split)
        if found.rejected or len(found.records) != described.records:
            problems.append(
                f"{file}: {found.file} has {len(found.records)} records that can be read, "
                f"the published one has {described.records}"
            )
        else:
            predictions[file] = {each.id: answer for each, answer in _answers(client, task, found.records)}
    return TaskAnswers(scores, predictions, tuple(problems))


def write_results(
    folder: str,
    scores: Mapping[str, float],
    runs: Mapping[str, str],
    missing: Mapping[str, str],
    predictions: Mapping[str, Mapping[str, Any]],
    clean: Mapping[str, float],
) -> tuple[str, ...]:
    """Writes the dev scores, and the files of a submission, into a folder."""
    written = write_submission(os.path.join(folder, SUBMISSION_FOLDER), predictions)
    content = {"dev": dict(scores), "runs": dict(runs), "missing": dict(missing)}
    content |= {"clean": dict(clean)} if clean else {}
    storage.write_json(os.path.join(folder, SCORES_FILE), content, indent=1)
    return written.missing


def write_submission(folder: str, predictions: Mapping[str, Predictions]) -> Submission:
    """Writes the files of a submission to GLUE's site from predictions of test splits, which have no labels.

    All predictions are checked before the first file is written.

    Raises:
        ValueError: for another file; for a record without a prediction, or a prediction of no record; for a
            class that the data set has not; for what is not a finite number.
    """
    texts = {file: submission_text(file, made) for file, made in predictions.items()}
    for file, text in texts.items():
        storage.write_text(os.path.join(folder, file), text)
    return Submission(tuple(texts), tuple(file for file in SUBMISSION if file not in texts))


def submission_text(file: str, predictions: Predictions) -> str:
    r"""Returns the content of one of the files.

    Example:

    >>> submission_text("WNLI.tsv", {str(id): "1" for id in range(146)}).split("\n")[:3]
    ['index\tprediction', '0\t1', '1\t1']
    """
    if file not in SUBMISSION:
        raise ValueError(f"{file} is not a file of a submission; {suggest(file, SUBMISSION)}")
    described = SUBMISSION[file]
    ids = [str(place) for place in range(described.records)]
    missing = [each for each in ids if predictions.get(each) is None]
    if missing:
        raise ValueError(
            f"{file}: {len(missing)} of {len(ids)} records have no prediction, the first is {missing[0]!r}"
        )
    unknown = sorted(predictions.keys() - set(ids))
    if unknown:
        raise ValueError(
            f"{file}: {len(unknown)} predictions are of no record, the first is {unknown[0]!r}; "
            f"ids are 0 to {len(ids) - 1}"
        )
    lines = [f"{each}\t{_written(file, each, predictions[each])}" for each in ids]
    return "\n".join(["index\tprediction", *lines]) + "\n"


def _submission_files(name: str, folder: str) -> Iterator[tuple[str, SubmissionFile]]:
    for file, described in SUBMISSION.items():
        answered_by = _ANSWERED_BY.get(described.task, described.task)
        if answered_by == name and has_split(described.task, folder, described.split):
            yield file, described


def _answers(
    client: Any, task: Task, records: Sequence[LabelledRecord]
) -> Iterator[tuple[LabelledRecord, Any]]:
    # Texts of like lengths share a batch, so that little of it is padding.
    ordered = sorted(records, key=lambda each: sum(map(len, each.texts.values())))
    for start in range(0, len(ordered), _BATCH):
        batch = ordered[start : start + _BATCH]
        texts, *others = ([str(each.texts[role]) for each in batch] for role in task.roles)
        asked = client.ask(task.signature, texts, **dict(zip(task.roles[1:], others)))
        for record, outputs in zip(batch, asked):
            yield record, outputs.get("label", outputs.get("value"))


def _written(file: str, id: str, prediction: str | float) -> str:
    labels = FORMATS[SUBMISSION[file].task].labels
    if isinstance(labels, NumberLabels):
        if isinstance(prediction, str) or not math.isfinite(prediction):
            raise ValueError(f"{file}: the prediction of {id!r} is {prediction!r}, not a finite number")
        return f"{min(max(prediction, labels.low), labels.high):.3f}"
    assert isinstance(labels, ClassLabels)
    if prediction not in labels.names:
        raise ValueError(
            f"{file}: the prediction of {id!r} is {prediction!r}, not one of {', '.join(labels.names)}"
        )
    return str(prediction)
