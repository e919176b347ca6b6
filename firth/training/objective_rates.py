"""Measures the rates of the recipe's objective on the training rows, before the training."""

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features, storage
from firth.objectives import OBJECTIVES, measure_rates
from firth.recipes.objectives.objective import AnyObjective
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.training.input_pipeline import objective_seeds, take_negatives
from firth.training.row_files import read_rows
from firth.training.rows import RowLimits, Rows, RowsError

_BATCH = 256


class ObjectiveRatesError(ValueError):
    """An objective whose rates are not those of the recipe."""


def measure_objective(
    objective: AnyObjective,
    sequences: Sequences,
    tokenizer: Any,
    patterns: Sequence[str],
    seed: int,
    max_rows: int,
) -> dict[str, Any]:
    """Returns the rates of an objective on some rows in the first epoch, with their bounds.

    The rows are the first ones of each file, which has them by example id. The seeds are the training's, and
    negative rows are taken from among these rows.

    Raises:
        RowsError: for missing or malformed rows.
    """
    limits = RowLimits.of(objective, sequences, tokenizer.vocabulary_size(), tokenizer.max_characters)
    with tempfile.TemporaryDirectory() as folder:
        rows = read_rows([_copy_first_rows(patterns, max_rows, folder)], os.path.join(folder, "rows"), limits)
        taken, negatives, seeds = _inputs(rows, seed, objective.uses_negative)
    made = _apply(OBJECTIVES[objective.kind](objective, sequences, tokenizer), taken, negatives, seeds)
    rates = measure_rates(objective, tokenizer, taken, negatives, made)
    return {
        "kind": objective.kind,
        "rows": len(seeds),
        "documents": int((taken[features.CHUNK_LENGTHS] > 0).sum()),
        **rates.to_dict(),
    }


def check_report(report: dict[str, Any]) -> None:
    """Raises an error for rates of `measure_objective` that are out of bounds.

    Example:

    >>> rate = {"name": "masked", "measured": 0.5, "lower": 0.7, "upper": 0.9, "ok": False}
    >>> try:
    ...     check_report({"kind": "masked_lm", "rows": 9, "ok": False, "rates": [rate]})
    ... except ObjectiveRatesError as error:
    ...     print(error)
    masked_lm does not do what the recipe says in 9 rows: masked is 0.5, expected 0.7 to 0.9
    """
    if report["ok"]:
        return
    broken = [
        f"{rate['name']} is {rate['measured']:.4g}, expected {rate['lower']:.4g} to {rate['upper']:.4g}"
        for rate in report["rates"]
        if not rate["ok"]
    ]
    raise ObjectiveRatesError(
        f"{report['kind']} does not do what the recipe says in {report['rows']} rows: {'; '.join(broken)}"
    )


def _copy_first_rows(patterns: Sequence[str], count: int, folder: str) -> str:
    """Copies as many rows of each file, and returns the path of the copy."""
    files = storage.glob(*patterns)
    if not files:
        raise RowsError(f"no file matches {', '.join(patterns) or 'an empty list of patterns'}")
    path, each = os.path.join(folder, "sample.gz"), -(-count // len(files))
    left = count
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        for name in files:
            records = tf.data.TFRecordDataset(name, "GZIP" if name.endswith(".gz") else "")
            for record in records.take(min(each, left)).as_numpy_iterator():
                writer.write(record)
                left -= 1
    return path


def _inputs(
    rows: Rows, seed: int, negatives: bool
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, npt.NDArray[Any]], npt.NDArray[np.int64]]:
    taken = rows.take(np.arange(len(rows)))
    epochs = np.zeros(len(rows), np.int64)
    # Rates that change during a run are measured from its beginning to its end.
    progress = np.linspace(0.0, 1.0, len(rows))
    return (
        {**taken, features.PROGRESS: progress},
        take_negatives(rows, taken, epochs, seed, negatives),
        objective_seeds(seed, epochs, taken[features.EXAMPLE_ID]),
    )


def _apply(
    objective: Callable[..., dict[str, tf.Tensor]],
    rows: dict[str, npt.NDArray[Any]],
    negatives: dict[str, npt.NDArray[Any]],
    seeds: npt.NDArray[np.int64],
) -> dict[str, npt.NDArray[Any]]:
    examples = tf.data.Dataset.from_tensor_slices((rows, negatives, seeds))
    # Objectives are written in TensorFlow's own control flow; AutoGraph would look through them for seconds.
    objective = tf.autograph.experimental.do_not_convert(objective)
    made = examples.map(objective, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True).batch(_BATCH)
    batches = list(made.as_numpy_iterator())
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
