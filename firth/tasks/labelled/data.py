"""The labelled data of a recipe as records by split, with a report of what was left out."""

import contextlib
import dataclasses
import heapq
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from firth.corpus.documents.hashing import digest
from firth.corpus.packing.mixture_plan import Share
from firth.recipes.base.errors import suggest
from firth.recipes.tasks.data import AnyLabelledData
from firth.recipes.tasks.task import Task
from firth.recipes.tasks.tasks import AnyTask
from firth.tasks.labelled.data_readers import LABELLED_DATA
from firth.tasks.labelled.examples import parts_of
from firth.tasks.labelled.mixing import EVAL, TRAIN, hold_out, key_of_texts, repeated, shares_of
from firth.tasks.readers import LabelledRecord, LabelledRecords, RefusedFileError, RejectedLine

# Most rejections that a report quotes in full, and most values of labels that it counts one by one.
_FIRST = 10
_COUNTED = 100


@dataclasses.dataclass(frozen=True)
class LabelledData:
    """Labelled records.

    Attributes:
        source: Name of the source of the records.
        labels: Names of the classes, or tags, that labels are of; empty if they are neither.
        splits: Records of `train` and of `eval`, or of `train` alone, and what was rejected.
        held_out: Whether the records of `eval` were taken out of those of `train`.
        shares: How many records are trained on of each source of a mixture; empty without one.
        label_note: A line about the labels to train on; empty for none.
    """

    source: str
    labels: tuple[str, ...]
    splits: dict[str, LabelledRecords]
    held_out: bool
    shares: tuple[Share, ...] = ()
    label_note: str = ""

    @property
    def mean_label(self) -> float:
        """The mean of the labels to train on, which are numbers, to six digits."""
        labels: Any = (record.label for record in self.splits[TRAIN].records)
        return float(f"{statistics.fmean(labels):.6g}")

    @property
    def class_shares(self) -> tuple[float, ...]:
        """The shares of the classes among the labels to train on, each counted once more than it occurs."""
        counts = Counter(_values(self.splits[TRAIN].records))
        total = counts.total() + len(self.labels)
        return tuple(float(f"{(counts[name] + 1) / total:.6g}") for name in self.labels)

    def written(self, split: str) -> Iterator[tuple[LabelledRecord, str]]:
        """Yields the records of a split, each with the name of its source; repeated as a mixture asks."""
        records: Iterable[LabelledRecord] = self.splits[split].records
        if self.shares and split == TRAIN:
            records = repeated(self.splits[split].records, self.shares)
        return ((record, record.source or self.source) for record in records)

    def report(self) -> dict[str, Any]:
        """Returns the numbers of records by split, and of those in both, as JSON."""
        train, evaluated = self.splits[TRAIN].records, self.splits[EVAL].records
        return {
            "source": self.source,
            "labels": list(self.labels),
            "held_out": self.held_out,
            "told": self.label_note,
            "splits": {name: self._report(each) for name, each in self.splits.items()},
            "in_both_splits": _repeated(evaluated, _labels_by_texts(train)),
            "mixture": [share._asdict() for share in self.shares],
        }

    def _report(self, split: LabelledRecords) -> dict[str, Any]:
        counts: Counter[str] = Counter(dict.fromkeys(self.labels, 0))
        for record in split.records:
            counts.update(parts_of(record.label).counted)
        first = _first_of_each_reason(split.rejected)
        return {
            "file": split.file,
            "read": len(split.records) + len(split.rejected),
            "kept": len(split.records),
            "rejected": split.counts,
            "first_rejected": [f"{each.file}:{each.line}: {each.reason}: {each.detail}" for each in first],
            "labels": dict(counts) if self.labels or len(counts) <= _COUNTED else {},
            "different_labels": sum(map(bool, counts.values())),
            "duplicates": _duplicates(split.records),
        }


def _first_of_each_reason(rejected: Sequence[RejectedLine]) -> list[RejectedLine]:
    """Returns a few of what was rejected: the first of each reason, then the second of each, and so on."""
    seen: Counter[str] = Counter()
    ranked = []
    for place, each in enumerate(rejected):
        ranked.append((seen[each.reason], place))
        seen[each.reason] += 1
    return [rejected[place] for _, place in heapq.nsmallest(_FIRST, ranked)]


def read_labelled_data(data: AnyLabelledData, task: Task) -> LabelledData:
    """Returns the labelled records of a recipe.

    Records with a label outside the task's labels are rejected. Without a split to evaluate on, a part of the
    training records is held out by a hash of their texts, so that equal texts are on one side.

    Raises:
        ValueError: for an unknown format or split, with the nearest.
    """
    reader, share = LABELLED_DATA[data.kind], data.held_out_share
    train = reader.read(data, task, TRAIN)
    given = train if share else reader.read(data, task, EVAL)
    if problem := task.label_problem(_labels(train), _labels(given)):
        raise RefusedFileError(problem)
    train, given = (_labelled(split, task) for split in (train, given))
    names = tuple(getattr(task, "labels", ())) or _names(data, task, train)
    train = _without_others(train, names)
    if task.unlabelled is None:
        _check_learnable(train, 0)
    if share:
        train, evaluated = hold_out(train, share)
    else:
        evaluated = _without_others(given, names)
    if share and task.unlabelled is None:
        _check_learnable(train, len(evaluated.records))
    shares = tuple(shares_of(data, train.records))
    note = task.describe_labels(record.label for record in train.records)
    return LabelledData(data.source, names, {TRAIN: train, EVAL: evaluated}, share > 0, shares, note)


def _labels(split: LabelledRecords) -> set[Any]:
    return {record.label for record in split.records}


def _labelled(split: LabelledRecords, task: Task) -> LabelledRecords:
    """Gives records without a label that of a task's unlabelled data."""
    if task.unlabelled is None:
        return split
    for number, record in enumerate(split.records):
        if record.label is None:
            split.records[number] = dataclasses.replace(record, label=task.unlabelled)
    return split


def read_to_train(data: AnyLabelledData, task: Task, learnable: bool = True) -> LabelledData:
    """Returns the labelled records to train on alone, without those that are held out of them.

    Args:
        data: Data of the recipe.
        task: Task of the recipe.
        learnable: False for records of which all may have one label, as of a model that knows its labels.

    Raises:
        ValueError: as `read_labelled_data` does of these records.
    """
    train = LABELLED_DATA[data.kind].read(data, task, TRAIN)
    if learnable:
        _check_learnable(train, 0)
    names = tuple(getattr(task, "labels", ())) or _names(data, task, train)
    train, share = _without_others(train, names), data.held_out_share
    if share:
        train, _ = hold_out(train, share)
    return LabelledData(data.source, names, {TRAIN: train}, share > 0)


def published_scores(data: AnyLabelledData) -> tuple[str, ...]:
    """Returns the names of the scores published for the data, the headline first; empty if none."""
    return LABELLED_DATA[data.kind].scores(data)


def fingerprint(data: AnyLabelledData) -> str:
    """Returns 32 hexadecimal digits that change when the data, or the content of their files, change.

    Raises:
        ValueError: for an unknown format or split, with the nearest.
        RefusedFileError: if a file is not there.
    """
    return digest(data.to_json(), *LABELLED_DATA[data.kind].fingerprint(data)).hex()


def _names(data: AnyLabelledData, task: Task, train: LabelledRecords) -> tuple[str, ...]:
    if not hasattr(task, "labels"):
        return ()
    if published := LABELLED_DATA[data.kind].classes(data):
        return published
    counts = Counter(_values(train.records))
    if problem := task.names_problem(counts):
        raise RefusedFileError(f"{train.file}: data.label: {problem}")
    return task.in_order(counts)


def _values(records: Iterable[LabelledRecord]) -> Iterable[str]:
    return (value for record in records for value in parts_of(record.label).counted)


def _without_others(split: LabelledRecords, names: tuple[str, ...]) -> LabelledRecords:
    """Returns a split without the records that have a label outside the set."""
    others = {name for name in _values(split.records) if names and name not in names}
    kept = LabelledRecords(split.file, rejected=list(split.rejected))
    for record in split.records:
        wrong = [each for each in parts_of(record.label).counted if each in others]
        if wrong:
            detail = f"unknown label {wrong[0]!r}; {suggest(wrong[0], names)}"
            kept.rejected.append(RejectedLine("unknown_label", record.file, record.line, detail))
        else:
            kept.records.append(record)
    kept.check_any()
    return kept


def _check_learnable(train: LabelledRecords, held_out: int) -> None:
    parts = [parts_of(record.label) for record in train.records]
    different = {value for each in parts for value in each.counted}
    after = f", after {held_out} were held out" if held_out else ""
    if len(different) < 2 and parts[0].must_differ:
        raise RefusedFileError(
            f"{train.file}: all {len(parts)} records to train on have the label {different.pop()!r}{after}; "
            "a task needs two different ones"
        )


def _repeated(records: Iterable[LabelledRecord], seen: dict[bytes, set[Any]]) -> dict[str, int]:
    """Returns how many records have texts that were seen, and how many of them a label that was not."""
    found = [(record.label, seen[key]) for record in records if (key := key_of_texts(record)) in seen]
    return {
        "records": len(found),
        "with_another_label": sum(label not in labels for label, labels in found),
    }


def _labels_by_texts(records: Iterable[LabelledRecord]) -> dict[bytes, set[Any]]:
    found: dict[bytes, set[Any]] = {}
    for record in records:
        found.setdefault(key_of_texts(record), set()).add(record.label)
    return found


def _duplicates(records: Sequence[LabelledRecord]) -> dict[str, int]:
    """Returns how many records have the texts of an earlier one, and how many texts have several labels."""
    by_texts = _labels_by_texts(records)
    return {
        "records": len(records) - len(by_texts),
        "texts_with_several_labels": sum(len(each) > 1 for each in by_texts.values()),
    }


@dataclasses.dataclass
class HandedData:
    """Labelled data as they were read.

    Attributes:
        fingerprint: Result of `firth.tasks.labelled.data.fingerprint` before they were read.
        task: The task that they were read for, with the values that follow from them, as JSON.
        found: The data; None when they are taken, so that their memory is free.
    """

    fingerprint: str
    task: str
    found: LabelledData | None


_handed: list[HandedData] = []


@contextlib.contextmanager
def handing_down(data: HandedData | None) -> Iterator[None]:
    """Hands data to `read_or_take` in the block."""
    _handed[:] = [] if data is None else [data]
    try:
        yield
    finally:
        forget_handed()


def forget_handed() -> None:
    """Frees the memory of data that nobody takes any more."""
    while _handed:
        _handed.pop().found = None


def read_or_take(data: AnyLabelledData, task: AnyTask, fingerprint: str) -> LabelledData:
    """Returns the labelled data of a recipe: those that are handed down, or if they are others, read anew."""
    wanted = (fingerprint, task.to_json())
    taken = next((each.found for each in _handed if (each.fingerprint, each.task) == wanted), None)
    forget_handed()
    return taken or read_labelled_data(data, task)
