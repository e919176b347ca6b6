"""The scores of a task model on held-out records, of one run and of several seeds, and lines on them."""

import dataclasses
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from firth.evaluation.record_scores import CLEAN, EXAMPLE_COUNT, LEAD
from firth.recipes.goals.goal import HIGH, LOW
from firth.reports.threshold_results import overall
from firth.scores import score_of

# The treatment of documents in which a step found evaluation data, by its `action`.
_DONE = {"drop": "dropped from it", "cut": "cut out of it", "keep": "kept in it"}
Evaluation = Mapping[str, Mapping[str, float]]


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


def clean_scores(evaluation: Evaluation, names: Sequence[str]) -> list[HeldOutScore]:
    """Returns the scores of the clean records; empty if all records are clean, or none is."""
    return held_out_scores(evaluation.get(CLEAN, {}), names)


def whole_and_clean(evaluation: Evaluation) -> tuple[int, int] | None:
    """Returns the numbers of all records and of the clean ones; None if equal or not known."""
    whole, clean = (of.get(EXAMPLE_COUNT) for of in (overall(evaluation), evaluation.get(CLEAN, {})))
    # An older run's evaluation has no such numbers.
    return None if whole is None or clean is None else (int(whole), int(clean))


def clean_words(evaluation: Evaluation) -> str:
    """Returns a phrase with the number of clean records; empty if all are clean.

    Example:

    >>> clean_words({"overall": {"example_count": 9.0}, "subset=clean": {"example_count": 4.0}})
    'clean: the 4 records not found in the corpus of the base'
    """
    numbers = whole_and_clean(evaluation)
    return "" if numbers is None else f"clean: the {numbers[1]:,} records not found in the corpus of the base"


def contamination_line(report: Mapping[str, Any] | None) -> str:
    """Returns a line on held-out records in the corpora of a base.

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
        line = f"{report['found']:,} of {records:,} found by {by}"
    else:
        by = ", ".join(f"{_named(model, step)} ({', '.join(step['benchmarks'])})" for model, step in searches)
        line = f"none of {records:,} found by {by}"
    rest = {
        "too short to be found": report["too_short"],
        "not among what was looked for": report["not_searched"],
    }
    others = [f"{number:,} {what}" for what, number in rest.items() if number]
    unknown = [each["model"] for each in report["corpora"] if not each["steps"]]
    others += [f"no report on what {' and '.join(unknown)} was trained on"] if unknown else []
    return f"{subject}: {'; '.join([line, *others])}"


def _named(model: str, step: Mapping[str, Any]) -> str:
    return f"{step['step']} of {model}"


def _where(step: Mapping[str, Any]) -> str:
    return f"{', '.join(step['benchmarks'])}; {_DONE.get(step['action'], step['action'])}"


def score_lines(evaluation: Evaluation, names: Sequence[str]) -> list[str]:
    r"""Returns the scores of the held-out records, each with its interval where there is one.

    Where a corpus was found to hold some of the records, the scores without these stand in a second line.
    Scores of summaries are followed by those of Lead-3, the first three sentences of each text.

    Example:

    >>> score_lines({"overall": {"f1": 0.9, "f1_low": 0.85, "f1_high": 0.94}}, ("f1",))
    ['held-out f1: 0.900 (0.850 to 0.940)']
    >>> whole, clean = {"accuracy": 0.9, "example_count": 10.0}, {"accuracy": 0.75, "example_count": 4.0}
    >>> print("\n".join(score_lines({"overall": whole, "subset=clean": clean}, ("accuracy",))))
    held-out accuracy: 0.900, whole: all 10 records
    held-out accuracy: 0.750, clean: the 4 records not found in the corpus of the base
    >>> score_lines({"overall": {"rouge_l": 0.25}, "baseline=lead_3": {"rouge_l": 0.375}}, ("rouge_l",))
    ['held-out rouge_l: 0.250', 'Lead-3, the first three sentences: rouge_l: 0.375']
    """
    line = f"held-out {_joined(held_out_scores(overall(evaluation), names)) or 'scores: not recorded'}"
    first = held_out_scores(evaluation.get(LEAD, {}), names)
    baseline = [f"Lead-3, the first three sentences: {_joined(first)}"] if first else []
    if (numbers := whole_and_clean(evaluation)) is None:
        return [line, *baseline]
    return [f"{line}, whole: all {numbers[0]:,} records", *clean_lines(evaluation, names), *baseline]


def served_line(found: Mapping[str, Any] | None) -> str:
    """Returns the headline score by the signature that is served, next to that of the same records' rows.

    Example:

    >>> found = {"score": "entity_f1", "signature": "tag_words", "served": 0.8125, "scored": 0.8125}
    >>> served_line({**found, "records": 1000, "of": 3250, "cut": 0})
    'as served: entity_f1: 0.812500 by tag_words, 0.812500 by rows, of 1,000 of 3,250 held-out records'
    >>> served_line({"score": "", "unchecked": {"schema_valid_constrained": "no signature writes so"}})
    'as served: not scored; schema_valid_constrained is not compared: no signature writes so'
    """
    # An older run's report has none.
    left_out = "".join(
        f"; {name} is not compared: {reason}" for name, reason in (found or {}).get("unchecked", {}).items()
    )
    if not found or not found["score"]:
        return f"as served: not scored{left_out}"
    score, values = found["score"], (found["served"], found["scored"])
    of = f" of {found['of']:,}" if found["of"] > found["records"] else ""
    cut = f"; {found['cut']:,} that rows hold a part of are read whole" if found["cut"] else ""
    served, scored = ("no number" if each is None else f"{each:.6f}" for each in values)
    return (
        f"as served: {score}: {served} by {found['signature']}, {scored} by rows, of "
        f"{found['records']:,}{of} held-out records{cut}{left_out}"
    )


def clean_lines(evaluation: Evaluation, names: Sequence[str]) -> list[str]:
    """Returns the scores of the clean records in a line; no line where whole and clean are the same.

    Example:

    >>> clean = {"f1": 0.5, "example_count": 4.0}
    >>> clean_lines({"overall": {"example_count": 10.0}, "subset=clean": clean}, ("f1",))
    ['held-out f1: 0.500, clean: the 4 records not found in the corpus of the base']
    """
    found = clean_scores(evaluation, names)
    return [f"held-out {_joined(found)}, {clean_words(evaluation)}"] if found else []


def _joined(scores: Sequence[HeldOutScore]) -> str:
    return ", ".join(each.text for each in scores)


@dataclasses.dataclass(frozen=True)
class ScoreOfSeeds:
    """A score of the held-out records, of several runs.

    Attributes:
        name: Name of the score.
        values: Its value by seed.
        best_seed: Seed of the best value, the first of those that are as good.
    """

    name: str
    values: Mapping[int, float]
    best_seed: int

    @property
    def median(self) -> float:
        """The median of the values."""
        return statistics.median(self.values.values())

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the values, that of a sample; None of one value."""
        return statistics.stdev(self.values.values()) if len(self.values) > 1 else None

    @property
    def best(self) -> float:
        """The best value, which is one of several: a better guess of a new run is the median."""
        return self.values[self.best_seed]

    @property
    def text(self) -> str:
        """The score in one line.

        Example:

        >>> ScoreOfSeeds("accuracy", {0: 0.5, 1: 0.75, 2: 0.7}, 1).text
        'accuracy over 3 seeds: median 0.700, standard deviation 0.132, best 0.750 (seed 1)'
        """
        spread = "" if self.deviation is None else f", standard deviation {self.deviation:.3f}"
        seeds = f"{len(self.values)} seed{'s' if len(self.values) > 1 else ''}"
        best = f"best {self.best:.3f} (seed {self.best_seed})"
        return f"{self.name} over {seeds}: median {self.median:.3f}{spread}, {best}"

    def as_json(self) -> dict[str, Any]:
        """Returns the values and their statistics as JSON has them."""
        return {
            "median": self.median,
            "standard_deviation": self.deviation,
            "best": self.best,
            "best_seed": self.best_seed,
            "values": {str(seed): value for seed, value in self.values.items()},
        }


def scores_of_seeds(metrics: Mapping[int, Mapping[str, float]], names: Sequence[str]) -> list[ScoreOfSeeds]:
    """Returns the scores that all runs have, in the order of their names.

    Raises:
        ValueError: for an unknown score.

    Example:

    >>> found, = scores_of_seeds({0: {"brier": 0.4}, 1: {"brier": 0.1}}, ["brier", "accuracy"])
    >>> found.best_seed, found.best, found.median
    (1, 0.1, 0.25)
    """
    return [
        _score(name, {seed: of_run[name] for seed, of_run in metrics.items()})
        for name in names
        if all(name in of_run for of_run in metrics.values())
    ]


def _score(name: str, values: Mapping[int, float]) -> ScoreOfSeeds:
    best = max if score_of(name).greater_is_better else min
    return ScoreOfSeeds(name, values, best(values, key=values.__getitem__))
