"""The scores of held-out records whole and clean: with those that a corpus was found to hold, and without."""

from collections.abc import Mapping, Sequence
from typing import Any

from firth.analysis.tasks.scores import HeldOutScore, held_out_scores
from firth.analysis.threshold_results import overall
from firth.evaluation.record_scores import CLEAN, EXAMPLE_COUNT

# The treatment of documents in which a step found evaluation data, by its `action`.
_DONE = {"drop": "dropped from it", "cut": "cut out of it", "keep": "kept in it"}

Evaluation = Mapping[str, Mapping[str, float]]


def clean_scores(evaluation: Evaluation, names: Sequence[str]) -> list[HeldOutScore]:
    """Returns the scores of the clean records; empty where whole and clean are the same, or nothing is clean."""
    return held_out_scores(evaluation.get(CLEAN, {}), names)


def whole_and_clean(evaluation: Evaluation) -> tuple[int, int] | None:
    """Returns the numbers of all records and of the clean ones; None where they are the same, or not known."""
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
