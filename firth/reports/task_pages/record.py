"""The data of a page on a task, next to those of a page on any run."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

# A table of more classes is too large to be read.
MOST_CLASSES = 40


@dataclasses.dataclass(frozen=True)
class Confusion:
    """How often each class was predicted in the place of each.

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
        given: What the model says.
    """

    texts: Mapping[str, str]
    right: str
    given: str


@dataclasses.dataclass(frozen=True)
class TaskRecord:
    """What is known of a run that adapts a model, next to its `RunRecord`.

    Attributes:
        records: Report of LabelledExampleGen; None if it was not recorded.
        rows: Report of TaskRowGen by split.
        skew: How the splits differ, as `firth.tasks.labelled.skew.find_skew` returns it.
        start: The start of the model, as `firth.training.initial_weights` writes it; None if not known.
        trained: Number of parameters that the method trains; None if it was not counted.
        contamination: What of the held-out records was found in the corpora of the base, as
            `firth.corpus.contamination.held_out_search.HeldOutSearch.report` returns it; empty if not known.
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
