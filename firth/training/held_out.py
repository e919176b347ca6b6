"""Held-out losses while a model trains, and what it makes of some held-out texts."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from firth import features
from firth.recipes.recipe import Recipe
from firth.training.held_out_samples import sampler

# Of a serialized row, beside what a sample needs.
_SAMPLES = 3


class HeldOut:
    """The held-out losses of a model, over some rows that stay the same.

    Masks and pairs of a row follow from (seed, example id), as in the Evaluator: over all rows the losses are
    those that it reports.

    Args:
        model: The pre-training model; its weights are read at each call.
        tokenizer: That the rows were made with.
        recipe: The run's recipe.
        patterns: Of the eval split's row files. Without any, there is nothing to measure.

    Example: see `tests/training/held_out_test.py`.
    """

    def __init__(self, model, tokenizer, recipe: Recipe, patterns: Sequence[str]):
        self._losses = recipe.objective.losses
        self._size = recipe.evaluation.batch_size
        self._read = lambda: _first_rows(patterns, recipe.training.eval_rows)
        self._parts = model, tokenizer, recipe
        self._made: tuple | None = None

    def __call__(self) -> dict:
        """Returns `held_out_loss`, `held_out_<loss>_loss` of each loss, in nats, and `samples`.

        Nothing is built or read before the first call. Where there are no rows, nothing is returned.
        """
        if self._made is None:
            self._made = self._make()
        rows, sums_of, samples_of = self._made
        if not rows:
            return {}
        sums = sums_of(tf.constant(rows))
        means = {
            name: float(
                tf.math.divide_no_nan(
                    tf.reduce_sum(sums[f"{name}_loss_sum"]), tf.reduce_sum(sums[f"{name}_weight_sum"])
                )
            )
            for name in self._losses
        }
        return {
            "held_out_loss": sum(weight * means[name] for name, weight in self._losses.items()),
            **{f"held_out_{name}_loss": value for name, value in means.items()},
            "samples": samples_of(),
        }

    def _make(self):
        from firth.serving.evaluate import evaluator
        from firth.serving.served import Served

        rows = self._read()
        served = Served(*self._parts)
        unigram = np.zeros(served.recipe.tokenizer.vocabulary_size, "float32")
        return rows, tf.function(evaluator(served, unigram)), sampler(served, _tokens(rows[:_SAMPLES]))


def _first_rows(patterns, count) -> list[bytes]:
    files = sorted({path for pattern in patterns for path in tf.io.gfile.glob(pattern)})
    rows: list[bytes] = []
    for path in files:
        records = tf.data.TFRecordDataset(path, "GZIP" if path.endswith(".gz") else "")
        rows += records.take(count - len(rows)).as_numpy_iterator()
    return rows


def _tokens(rows) -> list[list[int]]:
    """Returns the tokens of each row's first document."""
    found = []
    for row in rows:
        fields = tf.train.Example.FromString(row).features.feature
        length = fields[features.CHUNK_LENGTHS].int64_list.value[0]
        found.append(list(fields[features.RAW_TOKENS].int64_list.value[:length]))
    return found
