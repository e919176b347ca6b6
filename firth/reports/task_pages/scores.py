"""The scores that a model of a task is judged by."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from firth.evaluation.record_scores import CLEAN, EXAMPLE_COUNT
from firth.recipes.goals.goal import HIGH, LOW
from firth.reports.threshold_results import overall


class HeldOutScore(NamedTuple):
    """A score of the held-out records.

    Attributes:
        name: Name of the score.
        value: Value.
        low: Lower end of its interval; None without an interval.
        high: Upper end.
    """

    name: str
    value: float
    low: float | None
    high: float | None

    @property
    def text(self) -> str:
        """The score with its interval.

        Example:

        >>> HeldOutScore("accuracy", 0.9, 0.85, 0.94).text, HeldOutScore("f1", 0.5, None, None).text
        ('accuracy: 0.900 (0.850 to 0.940)', 'f1: 0.500')
        """
        interval = "" if self.low is None or self.high is None else f" ({self.low:.3f} to {self.high:.3f})"
        return f"{self.name}: {self.value:.3f}{interval}"


def held_out_scores(metrics: Mapping[str, float], names: Sequence[str]) -> list[HeldOutScore]:
    """Returns the scores that were measured, in the order of their names.

    Example:

    >>> held_out_scores({"f1": 0.5, "accuracy": 0.9}, ["accuracy", "f1", "matthews"])[0].value
    0.9
    """
    return [
        HeldOutScore(name, metrics[name], metrics.get(name + LOW), metrics.get(name + HIGH))
        for name in names
        if name in metrics
    ]


# The treatment of documents in which a step found evaluation data, by its `action`.
_DONE = {"drop": "dropped from it", "cut": "cut out of it", "keep": "kept in it"}

Evaluation = Mapping[str, Mapping[str, float]]


def clean_scores(evaluation: Evaluation, names: Sequence[str]) -> list[HeldOutScore]:
    """Returns the scores of the clean records; empty if all records are clean, or none is."""
    return held_out_scores(evaluation.get(CLEAN, {}), names)


def whole_and_clean(evaluation: Evaluation) -> tuple[int, int] | None:
    """Returns the numbers of all records and of the clean ones; None if equal or not known."""
    whole, clean = (of.get(EXAMPLE_COUNT) for of in (overall(evaluation), evaluation.get(CLEAN, {})))
    # An older run's evaluation has no such numbers.
    return None if whole is None or clean is None else (int(whole), int(clean))


def clean_words(evaluation: Evaluation) -> str:
    """Returns a phrase that says which records are clean; empty if all are.

    Example:

    >>> clean_words({"overall": {"example_count": 9.0}, "subset=clean": {"example_count": 4.0}})
    'clean: the 4 records not found in the corpus of the base'
    """
    numbers = whole_and_clean(evaluation)
    return "" if numbers is None else f"clean: the {numbers[1]:,} records not found in the corpus of the base"


def contamination_line(report: Mapping[str, Any] | None) -> str:
    """Returns what is known of held-out records in the corpora of a base, in one line.

    Example:

    >>> contamination_line(None)
    'held-out records in the corpus of the base: not known, as no decontamination report comes with it'
    >>> step = {"step": "decontaminate", "action": "keep", "benchmarks": ["dev"], "found": 6}
    >>> report = {"records": 10, "found": 6, "too_short": 0, "not_searched": 0}
    >>> contamination_line({**report, "corpora": [{"model": "mine", "steps": [step]}]})
    'held-out records in the corpus of the base: 6 of 10 found by decontaminate of mine (dev; kept in it)'
    """
    subject = "held-out records in the corpus of the base"
    if not report:
        return f"{subject}: not known, as no decontamination report comes with it"
    searches = [(each["model"], step) for each in report["corpora"] for step in each["steps"]]
    found = [(model, step) for model, step in searches if step["found"]]
    records = report["records"]
    if report["found"]:
        by = ", ".join(f"{_named(model, step)} ({_where(step)})" for model, step in found)
        said = f"{report['found']:,} of {records:,} found by {by}"
    else:
        by = ", ".join(f"{_named(model, step)} ({', '.join(step['benchmarks'])})" for model, step in searches)
        said = f"none of {records:,} found by {by}"
    rest = {
        "too short to be found": report["too_short"],
        "not among what was looked for": report["not_searched"],
    }
    others = [f"{number:,} {what}" for what, number in rest.items() if number]
    unknown = [each["model"] for each in report["corpora"] if not each["steps"]]
    others += [f"no report on what {' and '.join(unknown)} was trained on"] if unknown else []
    return f"{subject}: {'; '.join([said, *others])}"


def _named(model: str, step: Mapping[str, Any]) -> str:
    return f"{step['step']} of {model}"


def _where(step: Mapping[str, Any]) -> str:
    return f"{', '.join(step['benchmarks'])}; {_DONE.get(step['action'], step['action'])}"
