"""Held-out losses and samples while a model trains."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from firth import features, storage
from firth.recipes.run.run_recipe import RunRecipe
from firth.training.held_out_samples import sampler
from firth.training.row_files import RecordsError, records_of
from firth.training.rows import RowsError

_SAMPLES = 3


class HeldOut:
    """The held-out losses of a model, over some rows that stay the same.

    Masks and pairs of a row follow from (seed, example id), as in the Evaluator: over all rows the losses are
    those that it reports.

    Raises:
        RowsError: naming a file that cannot be read, or ends too early.

    Example: see `tests/training/held_out_test.py`.
    """

    def __init__(
        self, model: keras.Model, tokenizer: Any, recipe: RunRecipe, patterns: Sequence[str]
    ) -> None:
        self._rows = first_rows(patterns, recipe.training.eval_rows)
        self._parts = model, tokenizer, recipe
        self._made: tuple[Callable[..., dict[str, tf.Tensor]], Callable[[], list[dict[str, Any]]]] | None = (
            None
        )

    def __call__(self) -> dict[str, Any]:
        """Returns `held_out_loss`, `held_out_<loss>_loss` of each loss, in nats, and `samples`.

        Nothing is built before the first call. Where there are no rows, nothing is returned.
        """
        if not self._rows:
            return {}
        if self._made is None:
            self._made = self._make()
        sums_of, samples_of = self._made
        sums: dict[str, float] = defaultdict(float)
        size = self._parts[-1].evaluation.batch_size
        # A request to end is seen between two batches.
        for start in range(0, len(self._rows), size):
            made = sums_of(tf.constant(self._rows[start : start + size]))
            for name, value in made.items():
                sums[name] += float(tf.reduce_sum(value))
        return {**means_of(sums, self._parts[-1]), "samples": samples_of()}

    def _make(self) -> tuple[Callable[..., dict[str, tf.Tensor]], Callable[[], list[dict[str, Any]]]]:
        from firth.serving.evaluate import evaluator
        from firth.serving.served_model import Served

        served = Served(*self._parts)
        goal = served.recipe.goal
        of_text = features.is_over_vocabulary(goal.loss_classes)
        unigram = np.zeros(served.recipe.tokenizer.vocabulary_size, "float32") if of_text else None
        sums_of = tf.function(
            evaluator(served, unigram, answering=False),
            input_signature=[tf.TensorSpec([None], tf.string)],
            autograph=False,
        )
        return sums_of, sampler(served, first_documents(self._rows))


def means_of(sums: Mapping[str, float], recipe: RunRecipe) -> dict[str, float]:
    """Returns `held_out_loss` and each `held_out_<loss>_loss`, in nats; 0 where nothing is predicted."""
    losses = recipe.goal.losses
    weights = {name: sums[f"{name}_weight_sum"] for name in losses}
    means = {name: sums[f"{name}_loss_sum"] / weights[name] if weights[name] else 0.0 for name in losses}
    return {
        "held_out_loss": sum(factor * means[name] for name, factor in losses.items()),
        **{f"held_out_{name}_loss": value for name, value in means.items()},
    }


def first_rows(patterns: Sequence[str], count: int) -> list[bytes]:
    """Returns the first rows of some files, serialized.

    Raises:
        RowsError: naming a file that cannot be read, or ends too early.
    """
    files = storage.glob(*patterns)
    rows: list[bytes] = []
    for path in files:
        rows += _records(path, count - len(rows))
    return rows


def _records(path: str, count: int) -> list[bytes]:
    """Returns a file's first records; of a file that has no more, it is checked that it is whole."""
    try:
        return list(itertools.islice(records_of(path), count))
    except RecordsError as error:
        raise RowsError(f"{path}: cannot be read: {error}") from error


def first_documents(rows: Sequence[bytes]) -> list[list[int]]:
    """Returns the tokens of the first document of the rows that samples are made of."""
    found = []
    for row in rows[:_SAMPLES]:
        fields = tf.train.Example.FromString(row).features.feature
        length = fields[features.CHUNK_LENGTHS].int64_list.value[0]
        found.append(list(fields[features.RAW_TOKENS].int64_list.value[:length]))
    return found
