"""The averages over GLUE's tasks, as its leaderboard and as BERT's table have them."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

from firth.scores import score_of


@dataclasses.dataclass(frozen=True)
class GlueAverage:
    """An average of scores in percent. It compares with others only if nothing is missing.

    Attributes:
        value: Mean of what is there; NaN of nothing.
        missing: Scores that are not there, as `<task>.<score>`.
    """

    value: float
    missing: tuple[str, ...]


# The columns of BERT's table 1, each with the one score that it shows; without WNLI.
BERT_COLUMNS = (
    "mnli.accuracy",
    "mnli_mismatched.accuracy",
    "qqp.f1",
    "qnli.accuracy",
    "sst2.accuracy",
    "cola.matthews",
    "stsb.spearman",
    "mrpc.f1",
    "rte.accuracy",
)
# The leaderboard's nine tasks, each of which counts once, by the mean of its scores.
LEADERBOARD_TASKS: dict[str, tuple[str, ...]] = {
    "cola": ("cola.matthews",),
    "sst2": ("sst2.accuracy",),
    "mrpc": ("mrpc.f1", "mrpc.accuracy"),
    "stsb": ("stsb.pearson", "stsb.spearman"),
    "qqp": ("qqp.f1", "qqp.accuracy"),
    "mnli": ("mnli.accuracy", "mnli_mismatched.accuracy"),
    "qnli": ("qnli.accuracy",),
    "rte": ("rte.accuracy",),
    "wnli": ("wnli.accuracy",),
}


def percent(column: str, value: float) -> float:
    """Returns a score in percent, as papers print it.

    Example:

    >>> percent("cola.matthews", 0.5), percent("squad.squad_f1", 88.5)
    (50.0, 88.5)
    """
    _, _, name = column.partition(".")
    return 100 * value if score_of(name).range[1] == 1.0 else value


def bert_table_average(scores: Mapping[str, float]) -> GlueAverage:
    """Returns the average as BERT's table 1 has it: of nine columns, with MNLI twice and without WNLI."""
    return _average(scores, [(column,) for column in BERT_COLUMNS])


def leaderboard_average(scores: Mapping[str, float]) -> GlueAverage:
    """Returns the average as GLUE's leaderboard has it: of nine tasks, each by the mean of its scores.

    Example:

    >>> made = leaderboard_average({"mrpc.f1": 0.9, "mrpc.accuracy": 0.8, "cola.matthews": 0.5})
    >>> round(made.value, 2), made.missing[:2]
    (67.5, ('sst2.accuracy', 'stsb.pearson'))
    """
    return _average(scores, list(LEADERBOARD_TASKS.values()))


def _average(scores: Mapping[str, float], groups: Sequence[Sequence[str]]) -> GlueAverage:
    means = []
    for group in groups:
        if values := [percent(column, scores[column]) for column in group if column in scores]:
            means.append(sum(values) / len(values))
    missing = tuple(column for group in groups for column in group if column not in scores)
    return GlueAverage(sum(means) / len(means) if means else math.nan, missing)
