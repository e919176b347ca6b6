"""Scores of EleutherAI's lm-evaluation-harness: its command, its results, and differences of two models.

The harness runs in an environment of its own and asks a server over OpenAI's API.
"""

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import yaml

from firth import storage
from firth.scores.bootstrap import Interval, Resampling

# Tried with this version; older ones have no remote tokenizer.
VERSION = "0.4.13"
_SAME = 1e-6


class HarnessScore(NamedTuple):
    """A score of a model on a task.

    Attributes:
        task: Name of the task.
        metric: Name of the metric, with its filter if it has one.
        value: The harness's value.
        examples: Value of each example by its id; empty where the score is not the mean of its examples'.
    """

    task: str
    metric: str
    value: float
    examples: Mapping[str, float] = {}


class HarnessRow(NamedTuple):
    """A score of one model, or of two on the same examples.

    Attributes:
        task: Name of the task.
        metric: Name of the metric.
        examples: Number of examples; None where they have no values.
        values: Score of each model with its interval; without one, both ends are the score.
        difference: Score of the first less that of the second, with its paired interval; None for one model.
    """

    task: str
    metric: str
    examples: int | None
    values: tuple[Interval, ...]
    difference: Interval | None


def task_names(folder: str) -> list[str]:
    """Returns the names of the tasks in a folder of YAML files, sorted by file.

    Args:
        folder: Folder of the files.
    """
    found = []
    for path in sorted(storage.glob(os.path.join(folder, "*.yaml"))):
        # Functions of Python that a task names are the harness's to load.
        read = yaml.load(storage.read_text(path), Loader=yaml.BaseLoader)
        if isinstance(read, dict) and isinstance(read.get("task"), str):
            found.append(read["task"])
    return found


def harness_arguments(
    model: str, address: str, tasks: str, names: Sequence[str], output: str, longest: int
) -> list[str]:
    """Returns the arguments of `python` that let the harness ask a server.

    Args:
        model: Name of the model at the server.
        address: Address of the server.
        tasks: Folder of tasks in YAML.
        names: Names of the tasks to run.
        output: Folder for the results.
        longest: Most tokens of a prompt.
    """
    options = {
        "model": model,
        "base_url": f"{address}/v1/completions",
        "tokenizer_backend": "remote",
        "num_concurrent": 4,
        "max_retries": 1,
        # One token is always written after a prompt.
        "max_length": longest + 1,
    }
    given = ",".join(f"{name}={value}" for name, value in options.items())
    return [
        *("-m", "lm_eval", "run", "--model", "local-completions", "--model_args", given),
        *("--include_path", tasks, "--tasks", ",".join(names)),
        *("--log_samples", "--output_path", output),
    ]


def read_harness(folder: str) -> list[HarnessScore]:
    """Returns the scores that the harness has written into a folder.

    Args:
        folder: Its `--output_path`, of one model and one start.

    Raises:
        ValueError: if there are no results, or those of several starts.
    """
    paths = [path for path in storage.files_below(folder) if os.path.basename(path).startswith("results_")]
    if len(paths) != 1:
        raise ValueError(f"{folder} holds the results of {len(paths)} starts of the harness, not of one")
    path = os.path.join(folder, paths[0])
    results = storage.read_json_object(path)
    found = []
    for task, scores in results["results"].items():
        samples = _samples(os.path.dirname(path), task)
        for key, value in scores.items():
            metric, _, filtered = key.partition(",")
            if not filtered or metric.endswith("_stderr") or not isinstance(value, int | float):
                continue
            name = metric if filtered == "none" else f"{metric} ({filtered})"
            found.append(HarnessScore(task, name, float(value), _values(samples, metric, filtered, value)))
    return found


def _samples(folder: str, task: str) -> list[dict[str, Any]]:
    names = [name for name in storage.list_folder(folder) if name.startswith(f"samples_{task}_20")]
    return [json.loads(line) for name in names for line in storage.read_text(f"{folder}/{name}").splitlines()]


def _values(
    samples: Sequence[Mapping[str, Any]], metric: str, filtered: str, whole: float
) -> dict[str, float]:
    """Returns each example's value; nothing unless the score is their mean."""
    found = {
        str(each["doc_hash"]) + f"/{each['doc_id']}": float(each[metric])
        for each in samples
        if each.get("filter", "none") == filtered and isinstance(each.get(metric), int | float)
    }
    is_mean = bool(found) and math.isclose(np.mean(list(found.values())), whole, abs_tol=_SAME)
    return found if is_mean else {}


def harness_rows(
    models: Sequence[Sequence[HarnessScore]], resampling: Resampling | None = None
) -> list[HarnessRow]:
    """Returns the scores of one model or of two, with intervals by the bootstrap of examples.

    Two models are compared on the same resamples of the same examples, which cancels what is hard for both.

    Args:
        models: Scores of each model.
        resampling: Level, number and seed of the resamples; None for the usual ones.

    Raises:
        ValueError: if two models were asked different examples.

    Example:

    >>> one = HarnessScore("pairs", "acc", 0.5, {"a": 1.0, "b": 0.0})
    >>> other = HarnessScore("pairs", "acc", 0.5, {"a": 1.0, "b": 0.0})
    >>> harness_rows([[one], [other]])[0].difference
    Interval(value=0.0, low=0.0, high=0.0)
    """
    how = resampling or Resampling()
    first, *others = models
    rows = []
    for score in first:
        same = [_find(each, score) for each in others]
        scores = [score, *(each for each in same if each is not None)]
        if len(scores) < len(models):
            continue
        for each in scores[1:]:
            if each.examples.keys() != score.examples.keys():
                raise ValueError(f"{score.task}: the models were not asked the same examples")
        values = [np.array([each.examples[key] for key in sorted(each.examples)]) for each in scores]
        rows.append(
            HarnessRow(
                score.task,
                score.metric,
                len(score.examples) or None,
                tuple(_interval(each, known, how) for each, known in zip(scores, values)),
                _difference(scores, values, how) if others else None,
            )
        )
    return rows


def _find(scores: Sequence[HarnessScore], wanted: HarnessScore) -> HarnessScore | None:
    return next((each for each in scores if each[:2] == wanted[:2]), None)


def _interval(score: HarnessScore, values: Any, resampling: Resampling) -> Interval:
    if not len(values):
        return Interval(score.value, score.value, score.value)
    return resampling.interval(len(values), lambda places: float(values[places].mean()))


def _difference(scores: Sequence[HarnessScore], values: Sequence[Any], resampling: Resampling) -> Interval:
    one, other = values[:2]
    if not len(one):
        difference = scores[0].value - scores[1].value
        return Interval(difference, difference, difference)
    return resampling.interval(
        len(one), lambda places: float(one[places].mean()) - float(other[places].mean())
    )
