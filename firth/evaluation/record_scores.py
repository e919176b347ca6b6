"""The scores of a task's records as metrics: values, intervals, and values of slices.

Each score is a metric of its name, and the ends of its bootstrap interval are `<score>_low` and
`<score>_high`. Of no records a score is as bad as it can be, so that it fails its threshold. A correlation
where all labels or all predictions are the same is 0, as its implementation prints it, and its interval is
the whole range. Scores of predictions that are not numbers are not numbers either, and no bound is kept by
those.

`example_count` is the number of records, of all and in each slice, whatever the rows that they are packed in.

Where a corpus that the model was trained on was found to hold some of the records, the scores of the others
are next to those of all as the slice `CLEAN`, with intervals. Scores of summaries
have their baseline next to them as the slice `LEAD`.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from firth.recipes.goals.goal import HIGH, LOW
from firth.recipes.tasks.task import Task
from firth.scores import Collected, Interval, Score, compute, compute_interval, score_of, sliced
from firth.scores.bootstrap import RESAMPLES
from firth.scores.inputs import label_type
from firth.scores.score_table import CONSTRAINED, PROBABILITIES, SCORED_ANSWERS, WRITTEN

# The slice of the whole split.
OVERALL = "overall"
# The first sentences of each text as the answer, where scores are of summaries.
LEAD = "baseline=lead_3"
# The records that no corpus was found to hold.
CLEAN = "subset=clean"
# The metric that counts the records.
EXAMPLE_COUNT = "example_count"


@dataclasses.dataclass
class Records:
    """The records that are scored.

    Attributes:
        examples: Each record with its answer, as the task's `collected` gives it.
        probable: Each record with the number of its class and the probabilities of all classes, for the
            scores that are made of them; empty for a task without classes.
        scored: Each record with its best answer and the score of having none, for the scores that choose a
            threshold; empty for a task without such answers.
        broken: Number of records whose predictions are infinite, or not numbers.
        found: Ids of those that a corpus was found to hold.
        lead: Each record with the first sentences of its text as the answer; empty where no score is of
            summaries.
        copies: Each record with its whole text as the answer; empty where a headline is of summaries, or
            where the text is not an answer.
        complete: Each record with the text that was written, an empty one if the length cut it; empty for a
            task without a schema.
        constrained: As `complete`, of the texts that were written under the schema.
    """

    examples: list[Collected] = dataclasses.field(default_factory=list)
    probable: list[Collected] = dataclasses.field(default_factory=list)
    scored: list[Collected] = dataclasses.field(default_factory=list)
    broken: int = 0
    found: set[str] = dataclasses.field(default_factory=set)
    lead: list[Collected] = dataclasses.field(default_factory=list)
    copies: list[Collected] = dataclasses.field(default_factory=list)
    complete: list[Collected] = dataclasses.field(default_factory=list)
    constrained: list[Collected] = dataclasses.field(default_factory=list)

    def add(self, others: "Records") -> None:
        """Adds records."""
        self.examples.extend(others.examples)
        self.probable.extend(others.probable)
        self.scored.extend(others.scored)
        self.broken += others.broken
        self.found |= others.found
        self.lead.extend(others.lead)
        self.copies.extend(others.copies)
        self.complete.extend(others.complete)
        self.constrained.extend(others.constrained)

    @property
    def clean(self) -> "Records":
        """The records that no corpus was found to hold."""
        examples, probable, scored, complete, constrained = (
            [each for each in part if each.id not in self.found]
            for part in (self.examples, self.probable, self.scored, self.complete, self.constrained)
        )
        return Records(examples, probable, scored, complete=complete, constrained=constrained)

    def of_source(self, source: str) -> "Records":
        """Returns the records of one source."""
        parts = {
            each.name: [one for one in part if one.source == source]
            for each in dataclasses.fields(self)
            if isinstance(part := getattr(self, each.name), list)
        }
        return Records(broken=self.broken, found=self.found, **parts)

    def of_score(self, name: str) -> "Records":
        """Returns the records that a score is of: those of the source that its name begins with, or all."""
        source = name.rpartition(".")[0]
        return self.of_source(source) if source else self

    def of(self, score: Score) -> Sequence[Collected]:
        """Returns the examples that a score is made of."""
        own = {
            PROBABILITIES: self.probable,
            SCORED_ANSWERS: self.scored,
            WRITTEN: self.complete,
            CONSTRAINED: self.constrained,
        }
        return own.get(score.inputs, self.examples)


def record_scores(task: Task, records: Records) -> dict[str, float]:
    """Returns the metrics of all scores of a task, by name: see the module.

    A score whose name is that of a source, a point and a score is of the records of that source. Those of
    slices by length and by label are named as `in_slice` says, and have no intervals. By label there
    are only scores that are means over records: others say nothing of one class.

    Raises:
        ValueError: for a record without a prediction, two records of one id, or labels of another type than a
            score takes.

    Example:

    >>> from firth.recipes.tasks.classification import Classification
    >>> task = Classification(labels=("no", "yes"))
    >>> records = Records([Collected("a", "yes", "yes", length=9), Collected("b", "no", "yes", length=20)])
    >>> for name, value in record_scores(task, records).items():
    ...     print(name, value)
    accuracy 0.5
    accuracy_low 0.0
    accuracy_high 1.0
    accuracy[length=0-16] 1.0
    accuracy[length=17-32] 0.0
    accuracy[label=yes] 1.0
    accuracy[label=no] 0.0
    example_count 2
    example_count[length=0-16] 1
    example_count[length=17-32] 1
    example_count[label=yes] 1
    example_count[label=no] 1
    """
    made: dict[str, float] = {}
    for name in task.score_names:
        own, options = records.of_score(name), task.score_options(name)
        if records.examples and not own.examples:
            # These are the records of another source, of which the score says nothing. TFMA asks for every
            # metric that has a bound in every slice.
            made |= dict.fromkeys((name, name + LOW, name + HIGH), math.nan)
            continue
        made |= _with_ends(name, own, options)
        if not records.broken:
            made |= _of_slices(name, own, options)
        if own.lead and score_of(name).of_summaries:
            ends = _with_ends(name, Records(own.lead), options)
            made |= {in_slice(each, LEAD): value for each, value in ends.items()}
    if records.broken:
        return made
    return made | _counts(task, records) | (_clean(task, records) if records.found else {})


def _clean(task: Task, records: Records) -> dict[str, float]:
    """Returns the scores and the number of the clean records, as those of a slice."""
    clean = records.clean
    made: dict[str, float] = {EXAMPLE_COUNT: len(clean.examples)}
    for name in task.score_names:
        if (own := clean.of_score(name)).examples:
            made |= _with_ends(name, own, task.score_options(name))
    return {in_slice(name, CLEAN): value for name, value in made.items()}


def _counts(task: Task, records: Records) -> dict[str, float]:
    """Returns the numbers of records, of all and of each slice that a score has."""
    slicings = {by: None for name in task.score_names for by in _slicings(score_of(name), records.examples)}
    made: dict[str, float] = {EXAMPLE_COUNT: len(records.examples)}
    for by in slicings:
        for each, part in sliced(by, records.examples).items():
            made[in_slice(EXAMPLE_COUNT, f"{by}={each}")] = len(part)
    return made


def _with_ends(name: str, records: Records, options: Mapping[str, Any]) -> dict[str, float]:
    value, low, high = _interval(name, records, options)
    return {name: value, name + LOW: low, name + HIGH: high}


def in_slice(metric: str, slice_name: str) -> str:
    """Returns the name of a metric in a slice of the records; see `split_name`."""
    return f"{metric}[{slice_name}]"


def split_name(name: str) -> tuple[str, str]:
    """Returns a metric and its slice, empty for none.

    Example:

    >>> split_name(in_slice("accuracy", "label=[x]")), split_name("accuracy_low")
    (('accuracy', 'label=[x]'), ('accuracy_low', ''))
    """
    metric, _, rest = name.partition("[")
    return metric, rest.removesuffix("]")


def _interval(name: str, records: Records, options: Mapping[str, Any]) -> Interval:
    score = score_of(name)
    if records.broken:
        return Interval(math.nan, math.nan, math.nan)
    examples = records.of(score)
    if not _is_defined(score, examples):
        # Malformed examples are an error all the same.
        value = compute(name, examples, **options).value
        return Interval(value if examples else score.worst, *score.range)
    return compute_interval(name, examples, resamples=RESAMPLES, **options)


def _is_defined(score: Score, examples: Sequence[Collected]) -> bool:
    return score.is_defined([each.reference for each in examples], [each.prediction for each in examples])


def _of_slices(name: str, records: Records, options: Mapping[str, Any]) -> dict[str, float]:
    score = score_of(name)
    return {
        in_slice(name, f"{by}={each}"): compute(name, part, **options).value
        for by in _slicings(score, records.examples)
        for each, part in _parts(by, records, score)
        if _is_defined(score, part)
    }


def _slicings(score: Score, examples: Sequence[Collected]) -> Iterator[str]:
    if any(each.length is not None for each in examples):
        yield "length"
    if score.of_one is not None and all(_is_label(each.reference) for each in examples):
        yield "label"


def _parts(by: str, records: Records, score: Score) -> Iterator[tuple[str, list[Collected]]]:
    """Yields each slice with its examples; by label, a class goes by its name, whatever the score reads."""
    own = {each.id: each for each in records.of(score)}
    for name, part in sliced(by, records.examples).items():
        yield name, [own[each.id] for each in part]


def _is_label(reference: Any) -> bool:
    try:
        label_type(reference)
    except ValueError:
        return False
    return True
