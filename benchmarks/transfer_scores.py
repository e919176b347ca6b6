"""Scores of runs with several seeds: their spread, intervals, differences, and what the seeds say together.

A run is a mapping: its `seed`, `rate` and `score`, the score's `options`, the score's `value` with the
interval `low` to `high`, and the `answers` to the held-out records, each a triple of id, what is right and
what was answered. `labels` are the classes, and `shares` each record's averaged quantities, if there are any.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.scores import Collected, Interval, compute_interval, score_of

Run = Mapping[str, Any]
RESAMPLES, LEVEL = 1000, 0.95


def chosen(runs: Sequence[Run]) -> list[Run]:
    """Returns the runs with the rate that is best with the first seed."""
    first = min(run["seed"] for run in runs)
    best = max((run for run in runs if run["seed"] == first), key=lambda run: run["value"])
    return [run for run in runs if run.get("rate") == best.get("rate")]


def median_run(runs: Sequence[Run]) -> Run:
    """Returns the run whose value is the (lower) median."""
    median = statistics.median_low(run["value"] for run in runs)
    return next(run for run in runs if run["value"] == median)


def difference(runs: Sequence[Run], others: Sequence[Run]) -> Interval:
    """Returns the mean over seeds of one model less that of another, with its bootstrap interval.

    Each resample draws the held-out records, the same for both, and of each model its seeds.

    Raises:
        ValueError: if the two were not asked about the same records.
    """
    one, other = ([_value_of(run) for run in each] for each in (runs, others))
    ids, other_ids = (sorted(answer[0] for answer in each[0]["answers"]) for each in (runs, others))
    if ids != other_ids:
        raise ValueError("the two were not asked about the same records")
    values = []
    for number in range(RESAMPLES):
        random = np.random.default_rng([0, number])
        places = random.integers(len(ids), size=len(ids))
        drawn = [[each[seed] for seed in random.integers(len(each), size=len(each))] for each in (one, other)]
        values.append(_mean(drawn[0], places) - _mean(drawn[1], places))
    everything = np.arange(len(ids))
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(_mean(one, everything) - _mean(other, everything), float(low), float(high))


def verdict(apart: Interval) -> str:
    """Returns which is better by more than the interval of the difference."""
    if apart.low > 0:
        return "won"
    return "LOST" if apart.high < 0 else "not told apart"


def together(runs: Sequence[Run]) -> Run | None:
    """Returns the mean answers of the seeds as one more run; None for texts, which have no mean.

    Shares of classes and numbers are averaged. Of tags, word by word, and of answers the commonest is taken.
    """
    first, by_id = runs[0], [{answer[0]: answer[2] for answer in run["answers"]} for run in runs]
    if first["score"].startswith("rouge"):
        return None
    answers = []
    for id, right, _ in first["answers"]:
        if first.get("shares"):
            shares = np.mean([run["shares"][id] for run in runs], axis=0)
            answers.append((id, right, first["labels"][int(np.argmax(shares))]))
        else:
            answers.append((id, right, _joined([given[id] for given in by_id])))
    return {**first, **scored(first["score"], first["options"], answers), "seed": "all"}


def scored(score: str, options: Mapping[str, Any], answers: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Returns the value, interval and answers of a run."""
    found = compute_interval(score, [Collected(*answer) for answer in answers], **options)
    return {"value": found.value, "low": found.low, "high": found.high, "answers": answers}


def _joined(given: Sequence[Any]) -> Any:
    if isinstance(given[0], float):
        return statistics.fmean(given)
    if isinstance(given[0], str):
        return Counter(given).most_common(1)[0][0]
    return [Counter(tags).most_common(1)[0][0] for tags in zip(*given, strict=True)]


def _value_of(run: Run) -> Callable[[npt.NDArray[np.int64]], float]:
    """Returns the function from places of records, in the order of their ids, to the score."""
    score = score_of(run["score"])
    _, right, given = zip(*sorted(run["answers"], key=lambda answer: answer[0]))
    if score.of_one is not None:
        values = np.array([score.of_one(*pair, **run["options"]) for pair in zip(right, given)], float)
        return lambda places: float(values[places].mean())
    assert score.of_places is not None
    return score.of_places(right, given, **run["options"])


def _mean(values: Sequence[Callable[[Any], float]], places: npt.NDArray[np.int64]) -> float:
    return statistics.fmean(value_of(places) for value_of in values)
